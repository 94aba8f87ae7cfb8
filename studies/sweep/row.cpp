#include "studies/sweep/row.hpp"

#include <exception>
#include <new>

#include "scenario/check_scenario.hpp"
#include "scenario/job/progress.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "studies/simulate/memory_verdict.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

namespace {

Report sweep_report(const ScenarioFlags& flags) {
  NoProgress progress;
  const Scenario scenario = check_scenario(flags);
  const std::string name = scenario.schedules.empty() ? "1f1b" : scenario.schedules.front();
  return simulate(scenario, name, progress).result.report;
}

}  // namespace

SweptRow SweepRunner::run(std::int64_t row) {
  SweptRow result;
  result.number = row;
  point_.move_to(row);
  result.places = point_.places();
  try {
    result.report = sweep_report(point_.flags());
    const bool finding = !result.has_numbers() || out_of_memory(result.report);
    result.status = finding ? kExitFinding : kExitOk;
  } catch (const InputError& error) {
    result.status = kExitUsage;
    result.reasons = error.diagnostics();
  } catch (const UnavailableError& error) {
    result.status = kExitUnavailable;
    result.reasons = {error.diagnostic()};
  } catch (const std::bad_alloc&) {
    result.status = kExitUnavailable;
    result.reasons = {{"X004", "", "this run needs more memory than there is", "use fewer microbatches or devices"}};
  } catch (const std::exception& error) {
    result.status = kExitInternal;
    result.reasons = {{"", "", std::string("internal error: ") + error.what(), "report it with the flags of this row"}};
  }
  return result;
}

double sweep_rate(const Report& report) {
  if (report.samples_per_second) return *report.samples_per_second;
  if (report.makespan <= 0) return 0;
  const int replicas = report.cluster ? report.cluster->data : 1;
  constexpr double kNanosecondsPerSecond = 1e9;
  return report.schedule.microbatches * kNanosecondsPerSecond * replicas / static_cast<double>(report.makespan);
}

}  // namespace debubble
