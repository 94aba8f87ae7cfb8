// The range of a modelled step time, and whether two modelled runs of one job can be told apart.
#pragma once

#include <optional>
#include <vector>

#include "scenario/request/scenario.hpp"
#include "sim/analysis/report.hpp"
#include "studies/uncertainty/range_constants.hpp"

namespace debubble {

// Standard deviation of log(measured / predicted).
[[nodiscard]] double step_scatter(const std::vector<TimeKind>& kinds, double repeat);
// Of log(measured ratio / predicted ratio) of two runs whose kinds err alike: only the differences of their shares
// count, and what two measurements repeat to.
[[nodiscard]] double ratio_scatter(const std::vector<TimeKind>& one, const std::vector<TimeKind>& other, double repeat);

[[nodiscard]] StepRange step_range(Nanoseconds step, std::vector<TimeKind> kinds, const RangeConstants& constants,
                                   const RangeEnds& ends);

// Sets Report::step_range where the scenario has a --model and the run a result; with the installed constants.
void add_step_range(const Scenario& scenario, Report& report);

// By how much one of two modelled runs must be slower than the other, as a share, to be told apart from it. Both need a
// range. Nothing where no pairs of records say how far ratios are off.
[[nodiscard]] std::optional<double> least_difference(const Report& one, const Report& other);

}  // namespace debubble
