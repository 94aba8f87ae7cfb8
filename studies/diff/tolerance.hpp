// --tolerance: how far a measured run may lie from its prediction before that is a finding (exit status 1).
//
//     --tolerance bubble=2pp,step=5%,memory=5%
//
// step: of the makespan, in per cent of the predicted one. bubble: of bubble_ratio, in percentage points. memory: of
// the peak of each device, in per cent of the predicted peak. Either way counts: faster than predicted is a miss as
// well.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "studies/diff/diff.hpp"

namespace debubble {

struct Tolerance {
  std::optional<double> step;    // 0.05 for 5%
  std::optional<double> bubble;  // 0.02 for 2pp
  std::optional<double> memory;
};

// Throws InputError C006 for an item that is not KEY=VALUE, C017 for an unknown key, C007 for one given twice, C012 for
// a value that is no percentage (of `bubble`: no percentage points); all of them at once.
[[nodiscard]] Tolerance parse_tolerance(std::string_view text);

// Throws InputError D013 when memory is to be judged and nobody counted it.
void require_judgeable(const Tolerance& tolerance, const Diff& diff);

// A figure that differs from its prediction by more than its tolerance; both are shares, as in Tolerance.
struct Excess {
  enum class Kind : std::uint8_t { kStep, kBubble, kMemory };
  Kind kind = Kind::kStep;
  int device = -1;     // of kMemory
  double differs = 0;  // infinite where nothing was predicted
  double tolerance = 0;
};

// Every tolerance that the medians over the measured iterations exceed; empty when they are within all. Of memory
// activations are judged, which executors count as the simulator does; of a simulated run all of it.
[[nodiscard]] std::vector<Excess> exceeded(const Tolerance& tolerance, const Diff& diff);

}  // namespace debubble
