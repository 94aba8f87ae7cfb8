// What the parts of a transformer layer keep for their backward, on one rank and for one microbatch. Internal to
// layer_memory.
#pragma once

#include <cstdint>
#include <vector>

#include "cost_models/transformer/op_list.hpp"
#include "sim/core/profile.hpp"

namespace debubble {

class MemoryPart {
 public:
  // A tensor that the backward reads.
  void keep(Bytes bytes) {
    kept_ += bytes;
    tensors_ += bytes > 0 ? 1 : 0;
  }
  // The input of a matmul with weights, whose gradient needs it.
  void keep_input(Bytes bytes) {
    keep(bytes);
    held_ += bytes;
  }
  // Of the attention core: selective recomputation makes it again.
  void keep_core(Bytes bytes) {
    keep(bytes);
    core_ += bytes;
    core_tensors_ += bytes > 0 ? 1 : 0;
  }
  // Given up after the forward and made again before the backward that reads it.
  void make_again(Bytes bytes) { again_ += bytes; }
  // The same of the input of a matmul with weights.
  void make_input_again(Bytes bytes) {
    make_again(bytes);
    held_ += bytes;
  }
  // Everything so far but `input` is made again at once. What there is beside it in the backward comes on top.
  void make_all_again(Bytes input) {
    again_ += kept_ - input;
    kept_ = input;
    core_ = 0;
    tensors_ = input > 0 ? 1 : 0;
    core_tensors_ = 0;
  }

  // The gradient of a matmul's output, which the weights' gradient needs once the input's is done.
  void hold_gradient(Bytes bytes) { held_ += bytes; }
  // Held at one time in addition to what is kept.
  void at_most(Bytes bytes) { transient_ = bytes > transient_ ? bytes : transient_; }

  void recompute_core() {
    kept_ -= core_;
    tensors_ -= core_tensors_;
    transient_ += core_;
    core_ = 0;
    core_tensors_ = 0;
  }

  // What works beside this part: both are there at once, but only the larger transient.
  void join(const MemoryPart& other) {
    kept_ += other.kept_;
    core_ += other.core_;
    held_ += other.held_;
    again_ += other.again_;
    transient_ = transient_ > other.transient_ ? transient_ : other.transient_;
    tensors_ += other.tensors_;
    core_tensors_ += other.core_tensors_;
  }

  // What comes after this part, in forward order: when this part is at its most, the next one's is not there yet, or
  // not any more.
  void then(const MemoryPart& next) {
    const Bytes earlier = transient() - next.kept_;
    transient_ = earlier > next.transient() ? earlier : next.transient();
    again_ = 0;
    kept_ += next.kept_;
    core_ += next.core_;
    held_ += next.held_;
    tensors_ += next.tensors_;
    core_tensors_ += next.core_tensors_;
  }

  [[nodiscard]] Bytes kept() const { return kept_; }
  [[nodiscard]] Bytes held() const { return held_; }
  [[nodiscard]] Bytes transient() const { return transient_ + again_; }
  [[nodiscard]] std::int32_t tensors() const { return tensors_; }

 private:
  Bytes kept_ = 0;
  Bytes core_ = 0;  // of these
  Bytes held_ = 0;
  Bytes transient_ = 0;
  Bytes again_ = 0;  // made again before a backward, in addition to the transients
  std::int32_t tensors_ = 0;
  std::int32_t core_tensors_ = 0;
};

[[nodiscard]] MemoryPart attention_memory(const TrainingSetup& setup);
[[nodiscard]] MemoryPart dense_mlp_memory(const TrainingSetup& setup);
[[nodiscard]] MemoryPart experts_memory(const TrainingSetup& setup);
[[nodiscard]] MemoryPart embedding_memory(const TrainingSetup& setup);
// The last norm, the logits and the loss.
[[nodiscard]] MemoryPart head_memory(const TrainingSetup& setup);
// Of an extra prediction module, what comes before its block.
[[nodiscard]] MemoryPart predictor_input_memory(const TrainingSetup& setup);

// What one rank holds all the time in addition to states: places for weight gradients, workspaces, gathered
// activations.
[[nodiscard]] std::vector<SharedBuffer> layer_buffers(const TrainingSetup& setup, const LayerPlace& layer);

}  // namespace debubble
