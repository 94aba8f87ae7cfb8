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
};
inline constexpr int kOpKinds = 4;

[[nodiscard]] constexpr char letter(OpKind kind) { return "FBIW"[static_cast<int>(kind)]; }

struct Op {
  OpKind kind = OpKind::kForward;
  // True on the first member of an overlapped pair: this op and the next one in the row form a single cell that
  // starts when both can start and whose members finish together. A cell never holds more than two ops.
  bool paired_with_next = false;
  std::int32_t stage = 0;       // 0-based in model order, the same numbers in every replica
  std::int32_t microbatch = 0;  // 0-based, numbered over all replicas; a piece where the schedule halves microbatches

  friend bool operator==(const Op&, const Op&) = default;
};

// "3F12": stage, letter, microbatch, as in PyTorch's schedule tables.
[[nodiscard]] inline std::string to_string(const Op& op) {
  return std::to_string(op.stage) + letter(op.kind) + std::to_string(op.microbatch);
}

}  // namespace debubble
