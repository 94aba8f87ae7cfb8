#include "studies/check/fresh_run.hpp"

#include <algorithm>
#include <utility>

#include "live/backends.hpp"
#include "scenario/check_scenario.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

// Six: the range of their medians is a 95 % interval.
constexpr int kCalibrations = 6;

// What the backends refuse too, but only once they run: --accept has to know it as well.
void require_processes(const FreshRunPlan& plan) {
  if (plan.settings.backend == LiveBackend::kMpi || plan.settings.backend == LiveBackend::kTorch) return;
  const bool kills = std::any_of(plan.plan.faults.begin(), plan.plan.faults.end(),
                                 [](const live::Fault& fault) { return fault.kind == live::Fault::Kind::kKill; });
  if (!kills) return;
  const bool cuda = plan.settings.backend == LiveBackend::kCuda;
  throw InputError(
      Diagnostic{"E003", "--fault kill",
                 std::string(cuda ? "the cuda" : "the cpu") + " backend has no process per device that could be killed",
                 "use --backend mpi, or drop= to lose a message"});
}

void require_mpirun(const FreshRunPlan& plan) {
  if (plan.settings.backend != LiveBackend::kMpi || live::mpi_rank_of_environment()) return;
  throw UnavailableError(Diagnostic{
      "U052", "", "a run over MPI has to be started by mpirun, and this process was not",
      "start the gate with: mpirun -n " + std::to_string(plan.plan.job.schedule.devices) + " debubble check ..."});
}

}  // namespace

FreshRunPlan plan_fresh_run(const LiveFlags& live, const ScenarioFlags& flags, Progress& progress) {
  FreshRunPlan plan;
  plan.settings = check_live(live, flags);
  const Scenario scenario = check_scenario(scenario_part(plan.settings, flags));
  const std::string name = scenario.schedules.empty() ? "1f1b" : scenario.schedules.front();
  plan.plan = plan_live(scenario, plan.settings, name, progress);
  require_processes(plan);
  return plan;
}

bool calibrates(const FreshRunPlan& plan) { return plan.plan.clock.clock != live::Clock::kLogicalGiven; }

std::vector<int> repetitions_by_calibration(const FreshRunPlan& plan) {
  if (!calibrates(plan) || plan.settings.backend == LiveBackend::kMpi) return {plan.plan.repetitions};
  const bool chosen = plan.settings.repetitions > 0;
  const int repetitions = chosen ? plan.settings.repetitions : 2 * kCalibrations;
  const int groups = std::min(repetitions, kCalibrations);
  std::vector<int> dealt(static_cast<std::size_t>(groups), repetitions / groups);
  for (int k = 0; k < repetitions % groups; ++k) ++at(dealt, k);
  return dealt;
}

FreshRun run_fresh(const FreshRunPlan& plan, Progress& progress) {
  require_mpirun(plan);
  FreshRun fresh;
  try {
    LivePlan part = plan.plan;
    for (const int repetitions : repetitions_by_calibration(plan)) {
      part.repetitions = repetitions;
      live::LiveResult result = start_live(part, plan.settings, progress);
      if (result.stall) {
        fresh.stall = std::move(result.stall);
        return fresh;
      }
      if (result.iterations.empty()) return fresh;  // this process is not the one that knows
      fresh.records.push_back(record_of(part, std::move(result), ""));
    }
  } catch (const live::WrongDataError& error) {
    fresh.wrong_data = error.what();
  }
  return fresh;
}

}  // namespace debubble
