// The flags that say what a layer and a step are called in a recording, shared by every verb that attributes GPU time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profiler/attribution/attribution.hpp"
#include "scenario/request/flag.hpp"

namespace debubble {

struct AttributionFlags {
  std::string layers;          // a regex, or "none"; empty: the default rule, then whatever the recording suggests
  std::string steps;           // a regex; empty: the default rule
  std::optional<int> warm_up;  // steps to discard; empty: detect
  std::optional<int> rank;     // of several recordings, those of this rank alone
  bool explain = false;
};

// The word that asks for the whole model as one layer.
inline constexpr const char* kNoLayers = "none";

// --layers, --steps, --warm-up, --rank and --explain, under a heading of the help; without one under the first.
[[nodiscard]] FlagRows flag_rows(AttributionFlags& flags, std::string_view group = "");

// The rules these flags ask for; "none" leaves the default layer rule. Throws InputError C012 for a warm-up or a rank
// below 0.
[[nodiscard]] AttributionRules attribution_rules(const AttributionFlags& flags);

}  // namespace debubble
