// TransformerModel: one embedding, one block and one head of a transformer, in device memory, with separate forward,
// input-gradient and weight-gradient passes. A measured model is these three; equal blocks take equal time.
//
//     tokens -> Embedding -> x -> Block -> y -> Head(+loss)
//
// Input gradient passes leave all that the weight gradient pass needs ("kept from I to W"); weight gradient passes
// never touch the input gradient. Attention is unfused: scores and probabilities are kept, as in Megatron without
// flash attention.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpu/workload/device.hpp"
#include "sim/core/transformer.hpp"

namespace debubble {

struct WorkloadSize {
  std::int64_t microbatch = 1;       // samples
  std::int64_t sequence = 1024;      // tokens per sample
  std::int64_t tensor_parallel = 1;  // this device's share: heads, feed-forward and vocabulary divided by it
  DataType type = DataType::kBf16;
};

enum class Pass { kForward, kInputGrad, kWeightGrad };

// Sizes in bytes for one microbatch on this device.
struct LayerMemory {
  Bytes parameters = 0;
  Bytes gradients = 0;         // of the parameters, fp32
  Bytes activation = 0;        // kept for backward
  Bytes weight_grad_held = 0;  // of these and of what I made, still needed by W; can be more than `activation`
  Bytes output = 0;
  Bytes workspace = 0;  // live only during a pass, at its worst moment
};

// A layer owns its parameters, their gradients and the buffers of one microbatch. Random parameters and inputs from a
// fixed seed: constant data runs faster than real data.
class WorkLayer {
 public:
  virtual ~WorkLayer() = default;
  [[nodiscard]] virtual const std::string& name() const = 0;  // "embedding", "block", "head"
  [[nodiscard]] virtual const char* kind() const = 0;         // "embedding", "transformer", "head"
  virtual void run(Pass pass) = 0;                            // passes in the order F, I, W
  [[nodiscard]] virtual LayerMemory memory() const = 0;  // counted by the layer's own allocations, not by a formula
};

// Throws InputError (F001 to F003) for sizes that do not fit, and what WorkDevice throws.
class TransformerModel {
 public:
  TransformerModel(WorkDevice& device, const TransformerShape& shape, const WorkloadSize& size);
  ~TransformerModel();
  TransformerModel(const TransformerModel&) = delete;
  TransformerModel& operator=(const TransformerModel&) = delete;

  [[nodiscard]] WorkLayer& embedding();
  [[nodiscard]] WorkLayer& block();
  [[nodiscard]] WorkLayer& head();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace debubble
