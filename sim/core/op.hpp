// Op: one unit of work of one stage on one microbatch; and what ops of each kind need and make: the start rule, stated
// once, as a table. A new kind is a row of it; whoever checks, replays, lowers or records ops asks here.
//
//     F(s)  <- F(s-1)                    S(d)  <- F of the last stage
//     B(s)  <- F(s), R(s), B or I(s+1)   T(d)  <- S of every device (OpIndex::gathers)
//     I(s)  <- as B                      W(s)  <- I(s)
//     R(s)  <- F(s)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/core/at.hpp"

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

// The stage at the other end of what an op takes or makes. Activations go to the next stage, gradients to the previous.
enum class PeerStage : std::uint8_t { kNone, kPrevious, kNext, kLast };

// Kinds of ops of the same stage and microbatch, in order.
struct KindList {
  std::array<OpKind, 2> kinds{};
  std::size_t count = 0;

  [[nodiscard]] constexpr const OpKind* begin() const { return kinds.data(); }
  [[nodiscard]] constexpr const OpKind* end() const { return kinds.data() + count; }
};

// What holds for every op of a kind.
struct OpRule {
  char letter = '?';
  const char* word = "";
  PeerStage takes_from = PeerStage::kNone;  // whose output it starts from, where there is such a stage
  PeerStage makes_for = PeerStage::kNone;   // which stage starts from its output
  KindList needs = {};                      // what its own device must have run before, as far as the rows hold it
  bool is_backward = false;
  bool is_vocabulary = false;
};

inline constexpr KindList kNeededByBackward{{OpKind::kForward, OpKind::kRecompute}, 2};
inline constexpr std::array<OpRule, kOpKinds> kOpRules{{
    {.letter = 'F', .word = "forward", .takes_from = PeerStage::kPrevious, .makes_for = PeerStage::kNext},
    {.letter = 'B',
     .word = "backward",
     .takes_from = PeerStage::kNext,
     .makes_for = PeerStage::kPrevious,
     .needs = kNeededByBackward,
     .is_backward = true},
    {.letter = 'I',
     .word = "input gradient",
     .takes_from = PeerStage::kNext,
     .makes_for = PeerStage::kPrevious,
     .needs = kNeededByBackward,
     .is_backward = true},
    {.letter = 'W', .word = "weight gradient", .needs = {{OpKind::kInputGrad}, 1}, .is_backward = true},
    {.letter = 'R', .word = "recompute", .needs = {{OpKind::kForward}, 1}},
    {.letter = 'S', .word = "vocabulary logits", .takes_from = PeerStage::kLast, .is_vocabulary = true},
    {.letter = 'T', .word = "vocabulary gradient", .is_vocabulary = true},
}};

[[nodiscard]] constexpr const OpRule& rule_of(OpKind kind) { return at(kOpRules, kind); }
[[nodiscard]] constexpr char letter(OpKind kind) { return rule_of(kind).letter; }

// The kinds for which `holds` is true, one bit each: worked out at compile time, so that asking for one in an inner
// loop costs a shift and no load.
template <typename Holds>
[[nodiscard]] constexpr std::uint32_t kinds_where(Holds holds) {
  std::uint32_t kinds = 0;
  for (std::size_t k = 0; k < kOpRules.size(); ++k) {
    if (holds(kOpRules[k])) kinds |= std::uint32_t{1} << k;
  }
  return kinds;
}
[[nodiscard]] constexpr bool is_among(std::uint32_t kinds, OpKind kind) {
  return (kinds >> static_cast<unsigned>(kind) & 1U) != 0;
}

// Whether the op works on a shard of the vocabulary, of which every device holds one, and not on a stage.
[[nodiscard]] constexpr bool is_vocabulary(OpKind kind) {
  constexpr std::uint32_t kKinds = kinds_where([](const OpRule& rule) { return rule.is_vocabulary; });
  return is_among(kKinds, kind);
}
// Whether the op takes part in the exchange between neighbouring stages: F, B and I.
[[nodiscard]] constexpr bool is_pipelined(OpKind kind) {
  constexpr std::uint32_t kKinds = kinds_where([](const OpRule& rule) { return rule.makes_for != PeerStage::kNone; });
  return is_among(kKinds, kind);
}
// B and I: what the previous stage's backward waits for. They take the next stage's gradient, and they are the last to
// use the stage's activation except for the part that W keeps.
[[nodiscard]] constexpr bool makes_input_gradient(OpKind kind) {
  constexpr std::uint32_t kKinds =
      kinds_where([](const OpRule& rule) { return rule.makes_for == PeerStage::kPrevious; });
  return is_among(kKinds, kind);
}
// B, I and W: any part of the backward.
[[nodiscard]] constexpr bool is_backward(OpKind kind) {
  constexpr std::uint32_t kKinds = kinds_where([](const OpRule& rule) { return rule.is_backward; });
  return is_among(kKinds, kind);
}
// B and W: with it the stage's weight gradient of the microbatch is complete.
[[nodiscard]] constexpr bool makes_weight_gradient(OpKind kind) {
  return is_backward(kind) && kind != OpKind::kInputGrad;
}
// Whether `kind` uses what an op of kind `other`, same stage and microbatch, has left on the device.
[[nodiscard]] constexpr bool needs(OpKind kind, OpKind other) {
  for (const OpKind needed : rule_of(kind).needs) {
    if (needed == other) return true;
  }
  return false;
}

template <PeerStage kPeer>
[[nodiscard]] constexpr bool takes_from(OpKind kind) {
  constexpr std::uint32_t kKinds = kinds_where([](const OpRule& rule) { return rule.takes_from == kPeer; });
  return is_among(kKinds, kind);
}
// The stage whose output an op of `stage` takes; -1 when it takes none (the first stage's F, the last one's B or I; W,
// R and T always).
[[nodiscard]] constexpr std::int32_t source_stage(OpKind kind, std::int32_t stage, std::int32_t stages) {
  if (takes_from<PeerStage::kPrevious>(kind)) return stage - 1;
  if (takes_from<PeerStage::kNext>(kind)) return stage + 1 < stages ? stage + 1 : -1;
  return takes_from<PeerStage::kLast>(kind) ? stages - 1 : -1;
}
// The stage that takes what an op of `stage` makes; -1 when none does.
[[nodiscard]] constexpr std::int32_t target_stage(OpKind kind, std::int32_t stage, std::int32_t stages) {
  if (!is_pipelined(kind)) return -1;
  if (makes_input_gradient(kind)) return stage - 1;
  return stage + 1 < stages ? stage + 1 : -1;
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

// Whether `user` takes what `maker` makes for another stage.
[[nodiscard]] constexpr bool feeds(const Op& maker, const Op& user, std::int32_t stages) {
  if (maker.microbatch != user.microbatch || !is_pipelined(maker.kind)) return false;
  if (makes_input_gradient(maker.kind) != makes_input_gradient(user.kind)) return false;
  return maker.stage == source_stage(user.kind, user.stage, stages);
}

// "3F12": stage, letter, microbatch, as in PyTorch's schedule tables.
[[nodiscard]] inline std::string to_string(const Op& op) {
  return std::to_string(op.stage) + letter(op.kind) + std::to_string(op.microbatch);
}

}  // namespace debubble
