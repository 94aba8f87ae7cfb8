// Short words for tests of transforms: in units of one pass of a device share (1 ms) and one activation (1 MiB).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "schedules/common/list_timing.hpp"
#include "schedules/transforms/catalog.hpp"
#include "tests/support/toy.hpp"

namespace debubble::testing {

inline Schedule transformed(const std::string& name, const Schedule& schedule, const Params& params = {},
                            const PlanningCosts* costs = nullptr) {
  return apply_transform(name, schedule, TransformRequest{params, costs});
}

// The engine's makespan with unit costs, in units.
inline double makespan(const Schedule& schedule) {
  return static_cast<double>(totals_of(schedule, unit_costs(schedule).costs).makespan) /
         static_cast<double>(kNanosecondsPerMillisecond);
}

// The engine's peaks of activations by device, in activations.
inline std::vector<double> peaks(const Schedule& schedule, const StageCosts& costs) {
  std::vector<double> result;
  for (const DeviceTotals& device : totals_of(schedule, costs).devices) {
    result.push_back(static_cast<double>(device.peak_activation) / static_cast<double>(kMebibyte));
  }
  return result;
}

inline std::string row_text(const std::vector<Op>& row) {
  std::string text;
  bool inside = false;
  for (const Op& op : row) {
    text += (text.empty() ? "" : inside ? ";" : " ") + std::string(op.paired_with_next ? "(" : "") + to_string(op);
    if (inside) text += ")";
    inside = op.paired_with_next;
  }
  return text;
}

}  // namespace debubble::testing
