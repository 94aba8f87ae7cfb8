// Op: one unit of work of one stage on one microbatch, and the letters by which PyTorch's tables know it.
#pragma once

#include <cstdint>
#include <string>

namespace debubble {

enum class OpKind : std::uint8_t {
  kForward,     // F
  kBackward,    // B: gradients of input and weights together
  kInputGrad,   // I: gradient of the stage's input only
  kWeightGrad,  // W: gradient of the weights only, any time after I
  // Not in PyTorch's tables:
  kRecompute,           // R: the forward again, from the stage's input; before the microbatch's B or I
  kVocabularyLogits,    // S: a shard of the output layer: logits and their local maximum and sum; after the last F
  kVocabularyGradient,  // T: the same shard's gradients; after every shard's S
};
inline constexpr int kOpKinds = 7;

[[nodiscard]] constexpr char letter(OpKind kind) { return "FBIWRST"[static_cast<int>(kind)]; }

// Whether the op works on a shard of the vocabulary, of which every device holds one, and not on a stage.
[[nodiscard]] constexpr bool is_vocabulary(OpKind kind) {
  return kind == OpKind::kVocabularyLogits || kind == OpKind::kVocabularyGradient;
}
// Whether the op takes part in the exchange between neighbouring stages.
[[nodiscard]] constexpr bool is_pipelined(OpKind kind) {
  return kind == OpKind::kForward || kind == OpKind::kBackward || kind == OpKind::kInputGrad;
}
// B or I: what passes the gradient on to the stage before.
[[nodiscard]] constexpr bool makes_input_grad(OpKind kind) {
  return kind == OpKind::kBackward || kind == OpKind::kInputGrad;
}
// B, I or W: any part of a backward pass.
[[nodiscard]] constexpr bool is_backward_part(OpKind kind) {
  return makes_input_grad(kind) || kind == OpKind::kWeightGrad;
}

struct Op {
  OpKind kind = OpKind::kForward;
  // True on the first member of an overlapped pair: this op and the next one in the row form a single cell that
  // starts when both can start and whose members finish together. A cell never holds more than two ops.
  bool paired_with_next = false;
  std::int32_t stage = 0;       // 0-based in model order, the same numbers in every replica; of S and T the device
  std::int32_t microbatch = 0;  // 0-based, numbered over all replicas; a piece where the schedule halves microbatches

  friend bool operator==(const Op&, const Op&) = default;
};

// "3F12": stage, letter, microbatch, as in PyTorch's schedule tables.
[[nodiscard]] inline std::string to_string(const Op& op) {
  return std::to_string(op.stage) + letter(op.kind) + std::to_string(op.microbatch);
}

}  // namespace debubble
