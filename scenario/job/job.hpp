// Job: what a scenario means for one schedule, ready to be simulated or run for real. A plain value that nobody
// changes: a what-if makes another one. What came of it is a Result (studies/simulate/simulate.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/job/progress.hpp"
#include "scenario/request/scenario.hpp"
#include "sim/analysis/memory_fit.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/step_work.hpp"
#include "sim/core/variation.hpp"

namespace debubble {

// What each device's allocator may take; nothing: whether the run fits is not judged.
struct MemoryLimits {
  std::vector<Bytes> capacities;  // one for all devices, or one each
  Bytes outside = 0;              // of each device, beside its capacity
  AllocatorKind allocator = AllocatorKind::kCaching;
};

struct Job {
  Schedule schedule;
  StageCosts costs;
  Topology topology;
  std::vector<int> partition;  // layers per stage; empty without a profile
  P2p p2p = P2p::kOverlapped;
  StepWork step;  // empty: the schedule's ops only
  Variation variation;
  std::optional<ExtraWork> extra_work;      // to be placed into the bubbles
  std::int64_t samples_per_microbatch = 0;  // 0: unknown
  std::int64_t tokens_per_sample = 0;       // 0: unknown
  double microbatch_flops = 0;              // of the model, forward and backward; 0: unknown
  double peak_flops = 0;                    // of all devices that work on a microbatch, per second; 0: unknown
  std::vector<Finding> model_findings;      // about a modelled transformer, for the report
  MemoryLimits memory;
  Parallelism sizes;          // ranks in each dimension but the pipeline, as asked for
  int pipeline_replicas = 1;  // data-parallel replicas of the pipeline
  std::vector<Assumption> assumptions;
};

// `name` is that of a schedule in the catalog, or a file (scenario/job/make_schedule.hpp). Throws InputError when the
// scenario is illegal for it.
[[nodiscard]] Job prepare(const Scenario& scenario, const std::string& name, Progress& progress);

// The schedule alone, with what was assumed about its shape: for runs that find their costs themselves.
[[nodiscard]] Job prepare_schedule(const Scenario& scenario, const std::string& name, Progress& progress);

}  // namespace debubble
