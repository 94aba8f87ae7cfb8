// simulate: from a Job to what came of it. What simulate, compare, export and explain share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "scenario/job/job.hpp"
#include "sim/analysis/limit.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/timeline.hpp"
#include "sim/engine/program.hpp"

namespace debubble {

struct Result {
  Timeline timeline;  // empty when the job deadlocks
  Report report;
  // The step of each replica that was simulated, the slowest of which is `timeline`; empty: all are alike.
  std::vector<Nanoseconds> replica_makespans;
};

// Simulates and analyses. The report repeats the job's assumptions. Throws InputError X005 when the machine has not the
// memory for it: 165 bytes per op of two stages, up to 230 of many, and growing with the ops alone.
[[nodiscard]] Result simulate(const Job& job, Progress& progress);

// What `lower` makes of a job's schedule.
using Lowered = std::variant<Program, Deadlock>;

// The same, but nothing where copies out of the devices' memory come too late for it: then no more is simulated than it
// takes to know that. Such runs may still not fit, and others than those with copies always come to their end.
// `capacities`: one for all devices, or one each.
[[nodiscard]] std::optional<Result> simulate_while_it_fits(const Job& job, const Lowered& lowered,
                                                           const std::vector<Bytes>& capacities, Progress& progress);

// A job and what came of it.
struct Simulated {
  Job job;
  Result result;
};

// One schedule of a scenario. Throws what prepare does.
[[nodiscard]] Simulated simulate(const Scenario& scenario, const std::string& schedule, Progress& progress);

// Twice the microbatches and the bubble_ratio they give, simulated; nothing when the schedule does not take them, it
// would take long, or the run is of a table.
[[nodiscard]] MoreMicrobatches more_microbatches(const Scenario& scenario, const std::string& name, const Job& job);
// Whether the layers were cut as evenly as they can be, as fast as devices and stages are.
[[nodiscard]] bool is_evenest_cut(const Scenario& scenario, const Job& job);

// Samples and tokens per second of a report with a makespan, where the run knows its sizes: of all data-parallel
// replicas of the pipeline together.
void add_throughput(Report& report, std::int64_t samples_per_microbatch, std::int64_t tokens_per_sample,
                    int pipeline_replicas = 1);

// A note for each thing a person should know about the schedule.
void add_notes(const Schedule& schedule, Report& report);

}  // namespace debubble
