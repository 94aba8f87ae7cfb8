#include "tools/check/fresh_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "live/backends.hpp"
#include "sim/core/error.hpp"
#include "tools/live/view.hpp"
#include "tools/views/style.hpp"

namespace debubble {
namespace {

constexpr int kUnwrapped = 1000;  // columns: every output wraps by its own rules

void require_mpirun(const FreshRunPlan& plan) {
  if (plan.settings.backend != LiveBackend::kMpi || live::mpi_rank_of_environment()) return;
  throw UnavailableError(
      Diagnostic{"U070", "", "a run over MPI has to be started by mpirun, and this process was not",
                 fmt::format("start the gate with: mpirun -n {} debubble check ...", plan.plan.run.schedule.devices)});
}

}  // namespace

FreshRunPlan plan_fresh_run(const LiveFlags& live, const ScenarioFlags& flags, Progress& progress) {
  FreshRunPlan plan;
  plan.settings = check_live(live, flags);
  const Scenario scenario = check_scenario(scenario_part(plan.settings, flags));
  const std::string name = scenario.schedules.empty() ? "1f1b" : scenario.schedules.front();
  plan.plan = plan_live(scenario, plan.settings, name, progress);
  return plan;
}

FreshRun run_fresh(const FreshRunPlan& plan, Progress& progress) {
  require_mpirun(plan);
  FreshRun fresh;
  try {
    live::LiveResult result = start_live(plan.plan, plan.settings, progress);
    ViewStyle style;
    style.width = kUnwrapped;
    if (result.stall) fresh.failure = stall_view(*result.stall, style);
    fresh.record = record_of(plan.plan, std::move(result), "");
  } catch (const live::WrongDataError& error) {
    fresh.failure = wrong_data_finding(error).message;
  }
  return fresh;
}

}  // namespace debubble
