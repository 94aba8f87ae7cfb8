#include "studies/plan/schedule_only.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "formats/exporters/report_json.hpp"
#include "formats/text/shell.hpp"
#include "scenario/job/make_schedule.hpp"
#include "schedules/catalog.hpp"
#include "schedules/common/memory_limit.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "studies/compare/contender.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {
namespace {

constexpr const char* kSearched = "optimal";
constexpr const char* kLimitParam = "memory_limit";

class ScheduleTrials {
 public:
  ScheduleTrials(const ScenarioFlags& flags, Progress& progress)
      : flags_(flags), scenario_(check_scenario(flags)), progress_(progress) {
    plan_.devices = scenario_.devices.value_or(kDefaultDevices);
    plan_.microbatches = scenario_.microbatches.value_or(kDefaultMicrobatches);
    const auto given = scenario_.params.find(kLimitParam);
    plan_.limit = given == scenario_.params.end() ? "1p" : given->second;
    scenario_.params[kLimitParam] = plan_.limit;
  }

  SchedulePlan run() {
    if (!flags_.transforms.empty()) {
      throw InputError(Diagnostic{"C087", "--transform", "schedules are compared as they are", "leave it out"});
    }
    // The search first: where it finds no order within the limit, there is none. A cut is one of so many stages.
    const int given = scenario_.partition.automatic() ? 1 : std::max(scenario_.chunks, 1);
    std::set<int> chunks{1, std::max(scenario_.chunks, 1)};
    try_searched(given, true);
    bool all = false;
    for (const std::string& name : contender_names(scenario_, "", all)) {
      const ScheduleEntry* entry = find_schedule(name);
      if (name == kSearched || (entry != nullptr && entry->family == ScheduleFamily::kAsynchronous)) continue;
      ScheduleTrial trial = tried(scenario_for(scenario_, name), name);
      if (trial.fits) chunks.insert(trial.chunks);
      plan_.trials.push_back(std::move(trial));
    }
    for (const int each : chunks) {
      if (each != given) try_searched(each, false);
    }
    refuse_where_none_fits();
    // Of equal steps those that are no search's: they have a name, and some run elsewhere.
    std::stable_sort(plan_.trials.begin(), plan_.trials.end(), [](const ScheduleTrial& a, const ScheduleTrial& b) {
      const auto place = [](const ScheduleTrial& one) { return one.fits ? 0 : has_result(one.report) ? 1 : 2; };
      if (place(a) != place(b)) return place(a) < place(b);
      if (place(a) == 2) return false;
      if (a.report.makespan != b.report.makespan) return a.report.makespan < b.report.makespan;
      return a.schedule != kSearched && b.schedule == kSearched;
    });
    return std::move(plan_);
  }

 private:
  // The search plans by times that contention, --slow and jitter make longer, and with them more may be held.
  void refuse_where_none_fits() const {
    const auto& trials = plan_.trials;
    if (std::any_of(trials.begin(), trials.end(), [](const ScheduleTrial& one) { return one.fits && one.same; }))
      return;
    throw InputError(
        Diagnostic{"S042", "--param memory_limit",
                   "no schedule keeps the limit as it is simulated; the first one tried " + trials.front().why,
                   "give it more memory"});
  }

  void try_searched(int chunks, bool must) {
    Scenario own = scenario_for(scenario_, kSearched);
    own.chunks = chunks;
    plan_.trials.push_back(tried(own, kSearched, must));
  }

  // Throws a refusal only where it `must` run.
  ScheduleTrial tried(const Scenario& own, const std::string& name, bool must = false) {
    ScheduleTrial trial;
    trial.schedule = name;
    trial.chunks = std::max(own.chunks, 1);
    try {
      Simulated run = simulate(own, name, progress_);
      const Schedule& made = run.job.schedule;
      if (made.devices != plan_.devices || made.microbatches != plan_.microbatches) {
        trial.why = "is of -p " + std::to_string(made.devices) + " -m " + std::to_string(made.microbatches) +
                    ", another pipeline: its step time does not compare";
        return trial;
      }
      trial.report = std::move(run.result.report);
      trial.chunks = trial.report.schedule.chunks;
      trial.same = trial.report.schedule.replicas == 1 && trial.report.schedule.pieces == 1;
      trial.command = command(own, name);
      if (const ScheduleEntry* entry = find_schedule(name)) trial.needs = entry->needs;
      if (name == kSearched && !run.job.schedule.notes.empty()) trial.proof = run.job.schedule.notes.back();
      if (trial.report.deadlock) {
        trial.why = "it deadlocks";
      } else {
        judge(run.job, trial);
      }
    } catch (const InputError& error) {
      if (must || error.diagnostics().empty()) throw;
      trial.why = error.diagnostics().front().message;
    }
    return trial;
  }

  // Whether every device keeps its limit.
  void judge(const Job& job, ScheduleTrial& trial) const {
    PlanningCosts known;
    known.costs = job.costs;
    Bytes activations = 0;
    for (const StageCost& stage : job.costs.stages) activations += stage.activation;
    set_activation_unit(known, activations, job.schedule.devices);
    ScheduleRequest request;
    request.devices = job.schedule.devices;
    request.params[kLimitParam] = plan_.limit;
    const MemoryLimit limit = memory_limit_of(request, known, plan_.limit);
    trial.fits = true;
    Bytes most = 0;
    for (const DeviceReport& device : trial.report.devices) {
      const bool sized = limit.sized_on[to_index(device.device)];
      const Bytes held = sized ? device.peak_memory : device.peak_activation;
      const Bytes beyond = held - at(limit.activations, device.device);
      if (beyond <= most) continue;
      most = beyond;
      trial.fits = false;
      trial.why = "needs " + format_size(held) + (sized ? "" : " of activations") + " on device " +
                  std::to_string(device.device) + ", " + format_size(beyond) + " beyond its limit";
    }
  }

  [[nodiscard]] std::string command(const Scenario& own, const std::string& name) const {
    ScenarioFlags flags = flags_;
    flags.params.clear();
    for (const auto& [key, value] : own.params) flags.params.push_back(key + "=" + value);
    std::string text = "debubble simulate --schedule " + shell_file(name) + " -p " + std::to_string(plan_.devices) +
                       " -m " + std::to_string(plan_.microbatches);
    text += chunks_flag(name, own.chunks);
    if (!flags.partition.empty()) text += " --partition " + shell_quoted(flags.partition);
    const std::string repeated = repeated_flags(flags);
    return repeated.empty() ? text : text + " " + repeated;
  }

  const ScenarioFlags& flags_;
  Scenario scenario_;
  Progress& progress_;
  SchedulePlan plan_;
};

}  // namespace

const ScheduleTrial& SchedulePlan::best() const {
  return *std::find_if(trials.begin(), trials.end(),
                       [](const ScheduleTrial& trial) { return trial.fits && trial.same; });
}

SchedulePlan plan_schedule(const ScenarioFlags& flags, Progress& progress) {
  return ScheduleTrials(flags, progress).run();
}

}  // namespace debubble
