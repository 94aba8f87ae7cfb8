// run_schedule: one schedule of a scenario, from request to Report. What simulate, compare and export share.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenario/job/progress.hpp"
#include "scenario/request/scenario.hpp"
#include "sim/analysis/memory_fit.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/step_work.hpp"
#include "sim/core/timeline.hpp"
#include "sim/core/variation.hpp"

namespace debubble {

// What each device's allocator may take; nothing: whether the run fits is not judged.
struct MemoryLimits {
  std::vector<Bytes> capacities;  // one for all devices, or one each
  AllocatorKind allocator = AllocatorKind::kCaching;
};

struct Run {
  Schedule schedule;
  StageCosts costs;
  Topology topology;
  std::vector<int> partition;  // layers per stage; empty without a profile
  Timeline timeline;           // empty when the run deadlocks
  Report report;
  std::optional<ExtraWork> extra_work;      // to be placed into the bubbles
  std::int64_t samples_per_microbatch = 0;  // 0: unknown
  std::int64_t tokens_per_sample = 0;       // 0: unknown
  double microbatch_flops = 0;              // of the model, forward and backward; 0: unknown
  std::vector<Finding> model_findings;      // about a modelled transformer, for the report
  double peak_flops = 0;                    // of all devices that work on a microbatch, per second; 0: unknown
  MemoryLimits memory;
  P2p p2p = P2p::kOverlapped;  // what it was simulated or run with
  StepWork step;               // empty: the schedule's ops only
  Variation variation;
  Parallelism sizes;          // how many ranks work beside the pipeline, as asked for
  int pipeline_replicas = 1;  // data-parallel replicas of the pipeline
  // The step of each replica that was simulated, the slowest of which is `timeline`; empty: all are alike.
  std::vector<Nanoseconds> replica_makespans;
};

// `name` is a catalog name or a file (formats/schedule/schedule_file.hpp). Throws InputError when the scenario is
// illegal for the schedule.
[[nodiscard]] Run run_schedule(const Scenario& scenario, const std::string& name, Progress& progress);

// Twice the microbatches and the bubble_ratio they give, simulated; nothing when the schedule does not take them, it
// would take long, or the run is of a table.
[[nodiscard]] std::optional<std::pair<int, double>> more_microbatches(const Scenario& scenario, const std::string& name,
                                                                      const Run& run);

// Whether a schedule's name is that of a file: it ends in .csv or .json, or these and .gz, or holds a slash.
[[nodiscard]] bool is_table_file(const std::string& name);

// The schedule, with what was assumed about its shape.
[[nodiscard]] Run prepare_schedule(const Scenario& scenario, const std::string& name, Progress& progress);

// What comes before the simulation: schedule, costs, topology, and the assumptions about them.
[[nodiscard]] Run prepare_run(const Scenario& scenario, const std::string& name, Progress& progress);

// Simulates and analyses what is prepared: timeline and report. The report keeps its assumptions and notes.
void simulate_run(Run& run, P2p p2p, Progress& progress);

// Samples and tokens per second of a report with a makespan, where the run knows its sizes: of all data-parallel
// replicas of the pipeline together.
void add_throughput(Report& report, std::int64_t samples_per_microbatch, std::int64_t tokens_per_sample,
                    int pipeline_replicas = 1);

// A note for each thing a person should know about the schedule.
void add_notes(const Schedule& schedule, Report& report);

// The schedule alone: built, or read from its table.
[[nodiscard]] Schedule make_schedule(const Scenario& scenario, const std::string& name);

// Where a scenario leaves them open.
inline constexpr int kDefaultDevices = 4;
inline constexpr int kDefaultMicrobatches = 8;

}  // namespace debubble
