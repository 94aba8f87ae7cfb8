// A fresh run for a suite's scenario, by the rules of `debubble live`: its flags, its backends, its records.
#pragma once

#include <string>

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

// Throws InputError with places like "--fault".
[[nodiscard]] FreshRunPlan plan_fresh_run(const LiveFlags& live, const ScenarioFlags& flags, Progress& progress);

struct FreshRun {
  RunRecord record;     // without iterations in a process of mpirun's that is not the first
  std::string failure;  // how it got stuck or went wrong, in lines; empty when it ended as it should
};

// Throws InputError for what the backend cannot run and UnavailableError for what this machine lacks: U070 for runs
// over MPI outside of mpirun, or what the backend says.
[[nodiscard]] FreshRun run_fresh(const FreshRunPlan& plan, Progress& progress);

}  // namespace debubble
