#include "studies/plan/rows.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

namespace debubble {
namespace {

// Of traces/published/results.json and traces/measured.
constexpr std::array<std::string_view, 4> kRecordedSchedules{"1f1b", "interleaved", "zb-h1", "zb-h2"};
constexpr double kLessMemory = 0.9;

auto split_of(const PlanChoice& one) {
  return std::tuple(one.tensor, one.context, one.expert, one.pipeline, one.data, one.zero);
}

bool is_like(const PlannedRun& run, const PlannedRun& listed) {
  return split_of(run.choice) == split_of(listed.choice) && complexity(run.choice) >= complexity(listed.choice) &&
         static_cast<double>(run.peak) > kLessMemory * static_cast<double>(listed.peak);
}

}  // namespace

bool PlanRow::is_close_to(const PlannedRun& best) const {
  const double ratio = static_cast<double>(run.step) / static_cast<double>(best.step);
  return needed && std::max(ratio, 1 / ratio) - 1 <= *needed;
}

std::string unrecorded_part(const PlanChoice& choice) {
  if (choice.pipeline == 1) return "";
  if (choice.zero > 1) return "ZeRO-" + std::to_string(choice.zero) + " with a pipeline";
  const bool recorded =
      std::find(kRecordedSchedules.begin(), kRecordedSchedules.end(), choice.schedule) != kRecordedSchedules.end();
  return recorded ? "" : choice.schedule;
}

std::vector<PlannedRun> runs_to_list(const std::vector<PlannedRun>& runs, std::size_t most) {
  std::vector<PlannedRun> listed;
  for (const PlannedRun& run : runs) {
    if (listed.size() == most) break;
    if (std::none_of(listed.begin(), listed.end(), [&](const PlannedRun& one) { return is_like(run, one); })) {
      listed.push_back(run);
    }
  }
  return listed;
}

}  // namespace debubble
