// A fresh run for a suite's scenario, by the rules of `debubble live`: its flags, its backends, its records.
#pragma once

#include <string>
#include <vector>

#include "sim/core/run_record.hpp"
#include "tools/live/flags.hpp"
#include "tools/live/settings.hpp"
#include "tools/live/start.hpp"
#include "tools/progress.hpp"
#include "tools/scenario.hpp"

namespace debubble {

// What is known before anything runs.
struct FreshRunPlan {
  LiveSettings settings;
  LivePlan plan;
};

// Throws InputError with places like "--fault", also for a fault that the backend cannot do (E003).
[[nodiscard]] FreshRunPlan plan_fresh_run(const LiveFlags& live, const ScenarioFlags& flags, Progress& progress);

// Whether the costs are measured on this machine rather than given. Such a run is done several times over, each time
// with costs calibrated anew (tools/check/estimate.hpp says why).
[[nodiscard]] bool calibrates(const FreshRunPlan& plan);

// How the repetitions are dealt out: {2, 2, 2, 2, 1, 1} for ten calibrated ones; all in one for given costs, and over
// MPI, which a process joins only once.
[[nodiscard]] std::vector<int> repetitions_by_calibration(const FreshRunPlan& plan);

struct FreshRun {
  std::vector<RunRecord> records;  // by calibration; empty in a process of mpirun's that is not the first
  std::string failure;             // how it got stuck or went wrong, in lines; empty when it ended as it should
};

// Throws InputError for what the backend cannot run and UnavailableError for what this machine lacks: U052 for runs
// over MPI outside of mpirun, or what the backend says.
[[nodiscard]] FreshRun run_fresh(const FreshRunPlan& plan, Progress& progress);

}  // namespace debubble
