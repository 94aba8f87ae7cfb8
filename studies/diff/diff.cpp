#include "studies/diff/diff.hpp"

#include <algorithm>
#include <utility>

#include "formats/exporters/finding_text.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "studies/runs/predict.hpp"
#include "studies/runs/recognise.hpp"

namespace debubble {
namespace {

struct Sides {
  std::string predicted;  // empty: simulated from the measured run
  std::vector<std::string> measured;
};

Sides sides_of(const std::vector<std::string>& files) {
  const RunForm first = run_form(files.front());
  const bool ranks = first == RunForm::kKineto || (first == RunForm::kForeign && is_one_per_rank(files.front()));
  if (files.size() > 1 && !ranks) return {files.front(), {files.begin() + 1, files.end()}};
  if (first == RunForm::kScenario) {
    throw InputError(Diagnostic{"D002", files.front(), "a scenario alone has nothing that was measured",
                                "name the measured run after it: debubble diff " + files.front() + " RUN"});
  }
  return {"", files};
}

// What the measured run's own schedule, costs and links give.
RunRecord predicted_record(const RunRecord& measured, const std::string& name, Progress& progress) {
  const Simulated run = simulate_record(measured, progress);
  if (run.result.report.deadlock) {
    throw InputError(Diagnostic{
        "D009", name,
        "its own schedule cannot be simulated: " + finding_text(run.result.report.findings.front(), run.result.report),
        "name a prediction before it"});
  }
  return record_of(run, "");  // nobody typed one: that of the measured run had its faults
}

// The report of one iteration, with the peaks that were counted, where they were.
Report counted_report(const RunRecord& record, std::size_t iteration) {
  Report report = report_of(record, iteration);
  const std::vector<Bytes>& peaks = record.iterations[iteration].peak_memory;
  if (peaks.size() != report.devices.size()) return report;
  for (DeviceReport& device : report.devices) device.peak_memory = at(peaks, device.device);
  return report;
}

void check_same(const Diff& diff) {
  const std::string difference = first_difference(diff.predicted.schedule, diff.measured.schedule);
  if (difference.empty()) return;
  throw InputError(Diagnostic{
      "D010", diff.measured_name, "the runs are of different schedules: " + difference,
      "diff compares two runs of one schedule; for several schedules: debubble compare. To predict the measured run "
      "with its own schedule, name it alone"});
}

PredictionBasis basis_of(const Diff& diff) {
  if (diff.predicted_name.empty()) {
    return diff.measured.origin.backend == "import" ? PredictionBasis::kMedians : PredictionBasis::kForecast;
  }
  return diff.predicted.origin.backend == "simulator" ? PredictionBasis::kForecast : PredictionBasis::kOtherRun;
}

void add_levels(Diff& diff, Progress& progress) {
  if (!diff.measured_timeline().measured) return;
  diff.levels.push_back({BubbleLevel::kReplay, replayed_step(diff.measured_timeline(), diff.comparison)});
  if (diff.measured.iterations.size() > 1) {
    const Simulated medians = simulate_record(with_medians_of_others(diff.measured, diff.iteration), progress);
    const Report& report = medians.result.report;
    if (!report.deadlock) {
      diff.levels.push_back({BubbleLevel::kMedians, {report.bubble_ratio, static_cast<double>(report.makespan)}});
    }
  }
  if (diff.basis != PredictionBasis::kForecast) return;
  const Comparison& shown = diff.comparison;
  diff.levels.push_back(
      {BubbleLevel::kForecast, {shown.bubble_ratio.predicted, static_cast<double>(shown.makespan.predicted)}});
}

std::size_t choose_iteration(const DiffRequest& request, const RunRecord& measured) {
  if (!request.iteration) return median_iteration(measured);
  if (*request.iteration >= 1 && *request.iteration <= measured.iterations.size()) return *request.iteration - 1;
  throw InputError(Diagnostic{"C003", "--iteration",
                              "there is no iteration " + std::to_string(*request.iteration) + "; the run has " +
                                  std::to_string(measured.iterations.size()),
                              "they are counted from 1; leave the flag out for the one with the median step"});
}

}  // namespace

Diff make_diff(const DiffRequest& request, Progress& progress) {
  const Sides sides = sides_of(request.files);
  Diff diff;
  diff.measured_name = names_of(sides.measured);
  diff.predicted_name = sides.predicted;
  if (!sides.predicted.empty()) diff.predicted = open_run({sides.predicted}, nullptr, request.read_scenario, progress);
  diff.measured = open_run(sides.measured, sides.predicted.empty() ? nullptr : &diff.predicted, request.read_scenario,
                           progress, request.reader);
  if (diff.measured.iterations.empty()) {
    throw InputError(Diagnostic{"P016", diff.measured_name, "the run has no iteration", "run it again"});
  }
  progress.phase("simulating " + diff.measured_name);
  if (sides.predicted.empty()) diff.predicted = predicted_record(diff.measured, diff.measured_name, progress);
  if (diff.predicted.iterations.empty()) {
    throw InputError(Diagnostic{"P016", diff.predicted_name, "the run has no iteration", "run it again"});
  }
  check_same(diff);
  diff.iteration = choose_iteration(request, diff.measured);
  diff.iteration_given = request.iteration.has_value();
  diff.predicted_iteration = median_iteration(diff.predicted);
  progress.phase("comparing " + diff.measured_name);
  diff.predicted_report = counted_report(diff.predicted, diff.predicted_iteration);
  std::vector<TimedRun> measured;
  for (std::size_t i = 0; i < diff.measured.iterations.size(); ++i) {
    diff.measured_reports.push_back(counted_report(diff.measured, i));
  }
  for (std::size_t i = 0; i < diff.measured.iterations.size(); ++i) {
    measured.push_back({&diff.measured.iterations[i].timeline, &diff.measured_reports[i]});
  }
  diff.comparison =
      compare(diff.predicted.schedule, diff.predicted.p2p, {&diff.predicted_timeline(), &diff.predicted_report},
              measured, diff.iteration, diff.measured.clocks.residual);
  diff.basis = basis_of(diff);
  add_levels(diff, progress);
  return diff;
}

MemorySource Diff::memory_source() const { return source_of(&RunIteration::peak_memory); }
MemorySource Diff::activation_source() const { return source_of(&RunIteration::peak_activation); }

bool Diff::knows_memory(Bytes Figure<Bytes>::*side) const {
  return std::any_of(comparison.devices.begin(), comparison.devices.end(),
                     [&](const DeviceFigures& device) { return device.peak_memory.*side != 0; });
}

MemorySource Diff::source_of(std::vector<Bytes> RunIteration::*peaks) const {
  if (measured.origin.backend == "simulator") return MemorySource::kModelled;
  const bool counted =
      std::all_of(measured.iterations.begin(), measured.iterations.end(), [&](const RunIteration& one) {
        return (one.*peaks).size() == static_cast<std::size_t>(measured.schedule.devices);
      });
  return counted ? MemorySource::kCounted : MemorySource::kComputed;
}

bool Diff::is_slow(const LinkDurations& link) const {
  return measured.clocks.bounded && link.is_slow(measured.iterations.size(), measured.clocks.residual);
}

std::vector<LinkDurations> Diff::slow_links() const {
  std::vector<LinkDurations> slow;
  for (const LinkDurations& link : comparison.links) {
    if (is_slow(link)) slow.push_back(link);
  }
  return slow;
}

std::string Diff::exactness() const {
  if (measured_timeline().measured) return "";
  return std::string("exact by construction: the measured side is ") +
         (measured.origin.backend == "simulator" ? "simulated too" : "real, but its times follow from given costs") +
         "; for real times: debubble live --costs cpu-time, or --clock wall";
}

}  // namespace debubble
