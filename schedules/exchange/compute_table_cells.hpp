// The words of PyTorch's schedule tables: what one cell says, or what is wrong with it.
//
//     3F12   3SEND_F12   (3F12;4B7)OVERLAP_F_B   3UNSHARD   3WAIT_SEND_F12
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/op.hpp"

namespace debubble {

// What is wrong with a cell; `code` is empty when nothing is.
struct CellFault {
  std::string code;
  std::string message;
  std::string help;
};

// The kinds of OpKind, in its order, and what PyTorch's runtime does in addition to them.
enum class ActionKind : std::uint8_t {
  kForward,
  kBackward,
  kInputGrad,
  kWeightGrad,
  kRecompute,
  kVocabularyLogits,
  kVocabularyGradient,
  kSendForward,     // the stage is the producing one
  kReceiveForward,  // the stage is the consuming one
  kSendBackward,
  kReceiveBackward,
  kWaitSendForward,  // until what was sent is there; since PyTorch 2.15, as the last one
  kWaitSendBackward,
  kUnshard,  // gathers a stage's weights
  kReshard,
  kReduceGrad,  // the stage's gradients over the data-parallel group
  kWaitReduceGrad,
};
constexpr std::size_t kActionKinds = 17;

[[nodiscard]] constexpr bool is_compute(ActionKind kind) { return kind <= ActionKind::kVocabularyGradient; }
[[nodiscard]] constexpr bool has_microbatch(ActionKind kind) { return kind <= ActionKind::kWaitSendBackward; }
// Of PyTorch 2.15: whoever writes one writes all.
[[nodiscard]] constexpr bool is_wait(ActionKind kind) {
  return kind == ActionKind::kWaitSendForward || kind == ActionKind::kWaitSendBackward ||
         kind == ActionKind::kWaitReduceGrad;
}
[[nodiscard]] constexpr bool is_send(ActionKind kind) {
  return kind == ActionKind::kSendForward || kind == ActionKind::kSendBackward;
}

struct Action {
  ActionKind kind = ActionKind::kForward;
  std::int32_t stage = 0;
  std::int32_t microbatch = -1;  // -1: the kind has none

  friend bool operator==(const Action&, const Action&) = default;
};

// "3SEND_F12", "3UNSHARD"
[[nodiscard]] std::string to_string(const Action& action);
// The op that a compute action is.
[[nodiscard]] Op op_of(const Action& action);
[[nodiscard]] constexpr ActionKind kind_of(OpKind kind) { return static_cast<ActionKind>(kind); }

// Which words a cell may hold: F, B, I and W; these and communication; these and R, S and T of our own files.
enum class CellWords { kCompute, kComms, kNative };

struct ActionCell {
  std::array<Action, 2> actions{};
  int count = 0;  // 0: idle; 2: an overlapped pair, both of them compute

  [[nodiscard]] const Action* begin() const { return actions.data(); }
  [[nodiscard]] const Action* end() const { return actions.data() + count; }
  friend bool operator==(const ActionCell&, const ActionCell&) = default;
};
// One row per device. Not a Schedule: idle cells and communication have their places in it.
using ActionTable = std::vector<std::vector<ActionCell>>;

// "(3F12;4B7)OVERLAP_F_B"; "" for an idle cell.
[[nodiscard]] std::string to_string(const ActionCell& cell);

struct ReadActionCell {
  ActionCell cell;
  CellFault fault;
};

// Reads one cell. Surrounding blanks do not matter; everything else must match the grammar in full.
[[nodiscard]] ReadActionCell read_action_cell(std::string_view text, CellWords words);

struct Cell {
  std::array<Op, 2> ops{};
  int count = 0;  // 0: idle; 2: an overlapped pair, the first marked as such
  CellFault fault;
};

// The same for cells that hold compute alone.
[[nodiscard]] Cell read_cell(std::string_view text, CellWords words = CellWords::kCompute);

// `text` between quotes for a message: at most 40 bytes, and nothing a terminal would act on.
[[nodiscard]] std::string quoted_text(std::string_view text);

}  // namespace debubble
