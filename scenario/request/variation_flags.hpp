// Flags about how a run differs from what its stages cost on average: --slow, --factors, --jitter, --seed; part of
// every verb that takes a scenario.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "scenario/request/factors.hpp"
#include "scenario/request/flag.hpp"
#include "scenario/request/slow.hpp"

namespace debubble {

// As typed.
struct VariationFlags {
  std::vector<std::string> slow;
  std::string factors;
  std::string jitter;
  std::string seed;
  bool equal_ranks = false;  // no flag: whether ranks that a profile was joined from are taken for alike
};

[[nodiscard]] FlagRows flag_rows(VariationFlags& flags);

// The flags, checked.
struct VariationScenario {
  std::vector<SlowItem> slow;
  FactorSource factors;
  double jitter = 0;  // sigma of the logarithm; 0: none
  std::uint64_t seed = 1;

  // Whether no flag asks for any.
  [[nodiscard]] bool none() const {
    const bool slowed = std::any_of(slow.begin(), slow.end(), [](const SlowItem& item) { return !item.of_profile; });
    return !slowed && factors.kind == FactorSource::Kind::kNone && jitter == 0;
  }
  // Whether another seed gives another run.
  [[nodiscard]] bool random() const { return factors.random() || jitter != 0; }
};

// Throws InputError with everything that is wrong with them.
[[nodiscard]] VariationScenario check_variation(const VariationFlags& flags);

}  // namespace debubble
