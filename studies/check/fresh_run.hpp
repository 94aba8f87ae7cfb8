// A fresh run for a suite's scenario, by the rules of `debubble live`: its flags, its backends, its records.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "live/live.hpp"
#include "scenario/job/progress.hpp"
#include "scenario/request/scenario.hpp"
#include "sim/core/run_record.hpp"
#include "studies/live/flags.hpp"
#include "studies/live/settings.hpp"
#include "studies/live/start.hpp"

namespace debubble {

// What is known before anything runs.
struct FreshRunPlan {
  LiveSettings settings;
  LivePlan plan;
};

// Throws InputError with places like "--fault", also for a fault that the backend cannot do (E003).
[[nodiscard]] FreshRunPlan plan_fresh_run(const LiveFlags& live, const ScenarioFlags& flags, Progress& progress);

// Whether the costs are measured on this machine rather than given. Such a run is done several times over, each time
// with costs calibrated anew (studies/check/estimate.hpp says why).
[[nodiscard]] bool calibrates(const FreshRunPlan& plan);

// How the repetitions are dealt out: {2, 2, 2, 2, 1, 1} for ten calibrated ones; all in one for given costs, and over
// MPI, which a process joins only once.
[[nodiscard]] std::vector<int> repetitions_by_calibration(const FreshRunPlan& plan);

struct FreshRun {
  std::vector<RunRecord> records;  // by calibration; empty in a process of mpirun's that is not the first
  std::optional<Stall> stall;      // where it got stuck
  std::string wrong_data;          // which op got the wrong tensor; empty: none did
};

// Throws InputError for what the backend cannot run and UnavailableError for what this machine lacks: U052 for runs
// over MPI outside of mpirun, or what the backend says.
[[nodiscard]] FreshRun run_fresh(const FreshRunPlan& plan, Progress& progress);

}  // namespace debubble
