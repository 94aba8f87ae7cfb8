#include "studies/sweep/row.hpp"

#include <exception>
#include <new>
#include <utility>

#include "scenario/check_scenario.hpp"
#include "scenario/job/progress.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "studies/simulate/room.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

namespace {

// A scenario has a few hundred kilobytes at most: the layers of a large model.
constexpr std::size_t kMostScenarios = 128;

}  // namespace

const Scenario& SweepRunner::scenario() {
  std::vector<std::size_t> key = point_.places();
  for (std::size_t k = 0; k < key.size(); ++k) {
    if (space_.axes()[k].of_schedule) key[k] = 0;
  }
  const auto found = known_.find(key);
  if (found != known_.end()) {
    check_schedule_flags(point_.flags(), found->second);
    return found->second;
  }
  Scenario checked = check_scenario(point_.flags());
  if (known_.size() == kMostScenarios) known_.clear();
  return known_.emplace(std::move(key), std::move(checked)).first->second;
}

SweptRow SweepRunner::run(std::int64_t row) {
  SweptRow result;
  result.number = row;
  point_.move_to(row);
  result.places = point_.places();
  try {
    NoProgress progress;
    const Scenario& checked = scenario();
    const std::string name = checked.schedules.empty() ? "1f1b" : checked.schedules.front();
    result.report = simulate(checked, name, progress).result.report;
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
