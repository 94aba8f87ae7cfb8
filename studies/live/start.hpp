// From a request of `debubble live` to its record: the schedule and its costs, the backend's run, and what both say.
#pragma once

#include <optional>
#include <string>

#include "live/live.hpp"
#include "scenario/job/job.hpp"
#include "sim/core/run_record.hpp"
#include "studies/live/settings.hpp"

namespace debubble {

// What is known before anything runs.
struct LivePlan {
  Job job;  // schedule, costs (but for cuda) and links, assumptions
  ClockChoice clock;
  int repetitions = 1;
  int warm_up = 0;
  std::vector<live::Fault> faults;
  std::vector<int> partition;  // cuda: layers of each stage
  std::optional<TransformerShape> shape;
};

// `name` is a catalog name or a .csv file. Throws InputError for what no run can be made of: a schedule that is not
// legal, a fault in what it does not have, a partition that does not fit.
[[nodiscard]] LivePlan plan_live(Scenario scenario, const LiveSettings& settings, const std::string& name,
                                 Progress& progress);

// Runs it; see live/backends.hpp for what it throws.
[[nodiscard]] live::LiveResult start_live(const LivePlan& plan, const LiveSettings& settings, Progress& progress);

// The record of a run that ended. What the backend chose belongs to the assumptions only where times are measured:
// with given costs nothing of it touches a number, and it is one of the notes.
[[nodiscard]] RunRecord record_of(const LivePlan& plan, live::LiveResult result, const std::string& command_line);

}  // namespace debubble
