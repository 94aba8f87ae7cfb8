// Slot: where the GPU work launched from one range is counted. Twelve bytes, decided when the range opens.
//
//     instance   one execution of a layer for one microbatch (instances.hpp), or none
//     phase      of that execution
//     rule       why, for `--explain` and for the weakest rule of a split backward
//     rest       the category, when there is no instance
//     finer      what its kernels tell that the range does not, and the node whose kernels tell it together
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace debubble::attribution {

enum class Phase : std::uint8_t { kForward, kInputGrad, kWeightGrad, kBackward, kRecompute };
inline constexpr std::size_t kPhases = 5;

// kUnsplit: backward work that computes both gradients at once, or whose operands are not known.
enum class Rule : std::uint8_t { kExplicit, kForward, kShape, kName, kOrder, kUnsplit, kRecompute, kRest };
inline constexpr std::size_t kRules = 8;

enum class Rest : std::uint8_t {
  kOptimizer,
  kCommunication,
  kCopies,
  kOutsideLayers,
  kOutsideRanges,
  kUnlinkedBackward,
  kUnlinked,
  kBeforeRanges,  // launched before any range was opened: a program sets up its model before it trains
};
inline constexpr std::size_t kRests = 8;

inline constexpr std::uint32_t kNoInstance = std::numeric_limits<std::uint32_t>::max();

// What tells the gradients of a backward node apart that runs both in one range.
enum class Finer : std::uint8_t {
  kNothing,
  kNormKernels,     // their names: a norm's backward
  kLinearProducts,  // their order (fused_nodes.hpp): a fused linear, an MLP, a grouped linear
  kMlpProducts,
  kGroupedProducts,
};

struct Slot {
  std::uint32_t instance = kNoInstance;
  Phase phase = Phase::kForward;
  Rule rule = Rule::kRest;
  Rest rest = Rest::kOutsideRanges;
  Finer finer = Finer::kNothing;
  std::uint32_t node = 0;  // number of the fused node; 0: none

  [[nodiscard]] bool in_layer() const { return instance != kNoInstance; }
  friend bool operator==(const Slot&, const Slot&) = default;
};
static_assert(sizeof(Slot) == 12);

[[nodiscard]] constexpr Slot rest_slot(Rest rest) { return {kNoInstance, Phase::kForward, Rule::kRest, rest}; }
[[nodiscard]] constexpr Slot layer_slot(std::uint32_t instance, Phase phase, Rule rule) {
  return {instance, phase, rule, Rest::kOutsideLayers};
}

[[nodiscard]] constexpr std::size_t index_of(Phase phase) { return static_cast<std::size_t>(phase); }
[[nodiscard]] constexpr std::uint8_t bit_of(Phase phase) { return static_cast<std::uint8_t>(1U << index_of(phase)); }
[[nodiscard]] constexpr std::uint16_t bit_of(Rule rule) {
  return static_cast<std::uint16_t>(1U << static_cast<unsigned>(rule));
}

[[nodiscard]] const char* to_string(Phase phase);  // "F", "I", "W", "B", "R"
[[nodiscard]] const char* to_string(Rule rule);    // "explicit", "forward", ...
[[nodiscard]] const char* to_string(Rest rest);    // "optimizer", "communication", ...

}  // namespace debubble::attribution
