#include "studies/explain/improvements.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "formats/exporters/report_json.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "studies/explain/trials.hpp"
#include "studies/parallel.hpp"

namespace debubble {
namespace {

constexpr double kWorthSaying = 0.001;
constexpr double kMoreMemory = 1.01;

Bytes peak_memory_of(const Report& report) {
  Bytes peak = 0;
  for (const DeviceReport& device : report.devices) peak = std::max(peak, device.peak_memory);
  return peak;
}

double per_microbatch(const Report& report) {
  return static_cast<double>(report.makespan) / std::max(1, report.schedule.microbatches);
}

std::string price_of(const Trial& trial, const Report& own, const Report& base) {
  std::string price = trial.price;
  const Bytes before = peak_memory_of(base);
  const Bytes after = peak_memory_of(own);
  const auto add = [&](const std::string& text) { price += (price.empty() ? "" : "; ") + text; };
  if (static_cast<double>(after) > kMoreMemory * static_cast<double>(before)) {
    add("peak memory " + format_size(after) + " instead of " + format_size(before));
  }
  if (own.memory_fit && own.memory_fit->spare < 0) add("out of memory as before");
  if (own.weight_copies > base.weight_copies) add(std::to_string(own.weight_copies) + " copies of the weights");
  return price;
}

struct TrialOutcome {
  Improvement improvement;
  Trial::Kind kind = Trial::Kind::kSchedule;
};

std::optional<TrialOutcome> tried_trial(const Trial& trial, const Report& base) {
  try {
    const Report report = trial.make();
    if (!has_result(report) || report.makespan == 0) return std::nullopt;
    if (report.memory_fit && report.memory_fit->spare < 0 && base.memory_fit && base.memory_fit->spare >= 0) {
      return std::nullopt;  // faster, and out of memory
    }
    TrialOutcome outcome;
    outcome.kind = trial.kind;
    Improvement& found = outcome.improvement;
    found.what = trial.what;
    if (trial.frameworks) found.runs_in = trial.frameworks(report);
    found.price = price_of(trial, report, base);
    found.command = trial.command;
    found.step = report.makespan;
    found.microbatches = report.schedule.microbatches;
    found.gain = 1 - per_microbatch(report) / per_microbatch(base);
    // What takes more memory is another kind of change than what does not.
    if (trial.kind == Trial::Kind::kSchedule && !found.price.empty()) outcome.kind = Trial::Kind::kScheduleAtAPrice;
    return outcome;
  } catch (const InputError&) {
    return std::nullopt;  // the job is not to be had so
  }
}

}  // namespace

std::vector<Improvement> improvements(const ImprovementBase& base) {
  if (base.run.result.report.makespan == 0) return {};
  const std::vector<Trial> trials = trials_for(base);
  std::vector<std::optional<TrialOutcome>> results(trials.size());
  for_each_index(trials.size(), threads_for(trials.size(), 0),
                 [&](std::size_t k) { results[k] = tried_trial(trials[k], base.run.result.report); });
  std::vector<TrialOutcome> found;
  for (auto& result : results) {
    if (result && result->improvement.gain >= kWorthSaying) found.push_back(std::move(*result));
  }
  std::stable_sort(found.begin(), found.end(), [](const TrialOutcome& a, const TrialOutcome& b) {
    return a.improvement.gain > b.improvement.gain;
  });
  // Faster ops help everybody: they are said last.
  std::stable_partition(found.begin(), found.end(),
                        [](const TrialOutcome& outcome) { return outcome.kind != Trial::Kind::kCompute; });
  // What is slow has a cure that asks for nothing else: it is said first.
  std::stable_partition(found.begin(), found.end(),
                        [](const TrialOutcome& outcome) { return outcome.kind == Trial::Kind::kSlowDevices; });
  std::vector<Improvement> best;
  std::set<Trial::Kind> kinds;
  std::set<std::string> frameworks;
  double without_price = 0;
  for (TrialOutcome& outcome : found) {
    Improvement& improvement = outcome.improvement;
    const bool is_first = kinds.insert(outcome.kind).second;
    if (is_first && outcome.kind == Trial::Kind::kSchedule) without_price = improvement.gain;
    // A schedule at a price that gains no more than one without is no choice.
    const bool no_choice = outcome.kind == Trial::Kind::kScheduleAtAPrice && improvement.gain <= without_price;
    bool best_of_framework = false;
    for (const std::string& framework : improvement.runs_in) {
      best_of_framework = frameworks.insert(framework).second || best_of_framework;
    }
    if ((is_first && !no_choice) || best_of_framework) best.push_back(std::move(improvement));
  }
  return best;
}

}  // namespace debubble
