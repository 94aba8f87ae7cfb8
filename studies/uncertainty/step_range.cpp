#include "studies/uncertainty/step_range.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "studies/uncertainty/time_kinds.hpp"

namespace debubble {
namespace {

double scattered_part(const TimeKind& kind) { return kind.share * kind.scatter; }

}  // namespace

double step_scatter(const std::vector<TimeKind>& kinds, double repeat) {
  double variance = repeat * repeat;
  for (const TimeKind& kind : kinds) variance += scattered_part(kind) * scattered_part(kind);
  return std::sqrt(variance);
}

double ratio_scatter(const std::vector<TimeKind>& one, const std::vector<TimeKind>& other, double repeat) {
  std::map<std::string, double> differences;
  for (const TimeKind& kind : one) differences[kind.name] += scattered_part(kind);
  for (const TimeKind& kind : other) differences[kind.name] -= scattered_part(kind);
  double variance = 2 * repeat * repeat;
  for (const auto& [name, difference] : differences) variance += difference * difference;
  return std::sqrt(variance);
}

StepRange step_range(Nanoseconds step, std::vector<TimeKind> kinds, const RangeConstants& constants,
                     const RangeEnds& ends) {
  StepRange range;
  range.coverage = kRangeCoverage;
  range.repeat = constants.repeat;
  range.scatter = step_scatter(kinds, constants.repeat);
  const auto at = [&](double scatters) {
    return static_cast<Nanoseconds>(std::llround(static_cast<double>(step) * std::exp(scatters * range.scatter)));
  };
  range.low = at(ends.low);
  range.high = at(ends.high);
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const TimeKind& a, const TimeKind& b) { return scattered_part(a) > scattered_part(b); });
  range.kinds = std::move(kinds);
  range.records = ends.records;
  range.sources = ends.sources;
  return range;
}

void add_step_range(const Scenario& scenario, Report& report) {
  std::vector<TimeKind> kinds = time_kinds(scenario, report);
  if (kinds.empty()) return;
  const RangeConstants& constants = installed_ranges();
  const RangeEnds* ends = constants.ends_of(have_experts(kinds));
  if (ends != nullptr) report.step_range = step_range(report.makespan, std::move(kinds), constants, *ends);
}

std::optional<double> least_difference(const Report& one, const Report& other) {
  const RangeConstants& constants = installed_ranges();
  if (!one.step_range || !other.step_range || constants.pairs == 0) return std::nullopt;
  const double scatter = ratio_scatter(one.step_range->kinds, other.step_range->kinds, constants.repeat);
  return std::exp(constants.apart * scatter) - 1;
}

}  // namespace debubble
