#include "studies/accuracy/bubbles.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "schedules/catalog.hpp"
#include "sim/analysis/comparison.hpp"
#include "sim/core/error.hpp"
#include "studies/accuracy/timed_log.hpp"
#include "studies/runs/median_costs.hpp"
#include "studies/runs/open_run.hpp"
#include "studies/runs/predict.hpp"

namespace debubble {
namespace {

constexpr Nanoseconds kEqualForward = 1'000'000;

std::size_t place_of(BubbleLevel level) { return static_cast<std::size_t>(level); }

Nanoseconds busy_time(const Timeline& timeline) {
  Nanoseconds busy = 0;
  for (const Span& span : timeline.spans) busy += span.end - span.begin;
  return busy;
}

double bubble_of(Nanoseconds busy, double step, int devices) {
  return 1 - static_cast<double>(busy) / (step * devices);
}

Simulated simulate_or_refuse(const RunRecord& record, const std::string& id, Progress& progress) {
  Simulated run = simulate_record(record, progress);
  if (run.result.report.deadlock) {
    throw InputError(Diagnostic{"D009", id, "its order of ops cannot be simulated: it waits for itself",
                                "debubble diff shows where"});
  }
  return run;
}

BubbleAndStep of_simulation(const Simulated& run) {
  return {run.result.report.bubble_ratio, static_cast<double>(run.result.report.makespan)};
}

double ideal_bubble(const RunRecord& record, const std::string& id, Progress& progress) {
  RunRecord equal;
  equal.schedule = record.schedule;
  equal.p2p = record.p2p;
  StageCost cost;
  cost.forward = kEqualForward;
  cost.backward = 2 * kEqualForward;
  cost.input_grad = cost.weight_grad = kEqualForward;
  equal.costs.stages.assign(static_cast<std::size_t>(record.schedule.stages), cost);
  return simulate_or_refuse(equal, id, progress).result.report.bubble_ratio;
}

// The record with the medians of all iterations but one for costs.
RunRecord without_iteration(const RunRecord& run, std::size_t left_out) {
  RunRecord record = run;
  MedianCosts medians;
  for (std::size_t k = 0; k < run.iterations.size(); ++k) {
    if (k == left_out) continue;
    for (const Span& span : run.iterations[k].timeline.spans) {
      medians.add_op(span.op, span.paired, span.end - span.begin);
    }
    for (const Transfer& transfer : run.iterations[k].timeline.transfers) {
      if (!transfer.assumed) medians.add_transfer(transfer.end - transfer.begin);
    }
  }
  medians.set(record);
  record.iterations.clear();
  return record;
}

// What is left of the gap when ops and transfers have their measured durations is the error of the replay.
BubbleAndStep replayed(const RunRecord& record, std::size_t iteration, const Simulated& predicted) {
  const Timeline& timeline = record.iterations[iteration].timeline;
  const Report report = report_of(record, iteration);
  const TimedRun measured{&timeline, &report};
  const Comparison compared =
      compare(record.schedule, record.p2p, {&predicted.result.timeline, &predicted.result.report}, {&measured, 1}, 0);
  auto step = static_cast<double>(timeline.makespan);
  for (const GapCause cause : {GapCause::kOrder, GapCause::kLaunchGap, GapCause::kUnexplained}) {
    step -= static_cast<double>(compared.gap_by_cause[static_cast<std::size_t>(cause)]);
  }
  return {bubble_of(busy_time(timeline), step, record.schedule.devices), step};
}

void add_share(BubbleAndStep& sum, const BubbleAndStep& one, std::size_t count) {
  sum.bubble += one.bubble / static_cast<double>(count);
  sum.step += one.step / static_cast<double>(count);
}

JudgedRun judge_recording(const MeasuredRow& row, Progress& progress) {
  const auto no_scenario = [](const std::string& file) -> ScenarioFlags {
    throw InputError(Diagnostic{"D002", file, "a scenario is nothing that was measured", "name the measured run"});
  };
  const RunRecord record = open_run(row.files, nullptr, no_scenario, progress, {row.replica});
  const std::size_t count = record.iterations.size();
  JudgedRun judged;
  judged.row = &row;
  judged.schedule = record.schedule.name;
  judged.devices = record.schedule.devices;
  judged.microbatches = record.schedule.microbatches;
  judged.steps = count;
  judged.ideal = ideal_bubble(record, row.id, progress);
  const Simulated predicted = simulate_or_refuse(record, row.id, progress);
  BubbleAndStep replay;
  BubbleAndStep medians;
  for (std::size_t k = 0; k < count; ++k) {
    const Timeline& timeline = record.iterations[k].timeline;
    const auto step = static_cast<double>(timeline.makespan);
    add_share(judged.measured, {bubble_of(busy_time(timeline), step, judged.devices), step}, count);
    add_share(replay, replayed(record, k, predicted), count);
    if (count < 2) continue;
    add_share(medians, of_simulation(simulate_or_refuse(without_iteration(record, k), row.id, progress)), count);
  }
  judged.predicted[place_of(BubbleLevel::kReplay)] = replay;
  if (count > 1) judged.predicted[place_of(BubbleLevel::kMedians)] = medians;
  return judged;
}

JudgedRun judge_stage_times(const MeasuredRow& row, Progress& progress) {
  RunRecord record;
  const auto devices = static_cast<int>(row.forward.size());
  record.schedule = build_schedule(row.schedule, {devices, row.microbatches, 1, {}, nullptr});
  Nanoseconds busy = 0;
  for (std::size_t s = 0; s < row.forward.size(); ++s) {
    StageCost cost;
    cost.forward = row.forward[s];
    cost.backward = row.backward[s];
    busy += row.microbatches * (cost.forward + cost.backward);
    record.costs.stages.push_back(cost);
  }
  JudgedRun judged;
  judged.row = &row;
  judged.schedule = row.schedule;
  judged.devices = devices;
  judged.microbatches = row.microbatches;
  judged.ideal = ideal_bubble(record, row.id, progress);
  const auto step = static_cast<double>(row.step);
  judged.measured = {bubble_of(busy, step, devices), step};
  judged.predicted[place_of(BubbleLevel::kForecast)] = of_simulation(simulate_or_refuse(record, row.id, progress));
  return judged;
}

JudgedRun judge_log(const MeasuredRow& row, Progress& progress) {
  const TimedLog log = read_timed_log(row.log);
  RunRecord record;
  record.schedule = build_schedule(log.schedule, {log.devices, log.microbatches, log.chunks, {}, nullptr});
  const std::size_t count = log.lines.size();
  JudgedRun judged;
  judged.row = &row;
  judged.schedule = record.schedule.name;
  judged.devices = log.devices;
  judged.microbatches = log.microbatches;
  judged.steps = count;
  judged.ideal = ideal_bubble(record, row.id, progress);
  BubbleAndStep timers;
  for (std::size_t k = 0; k < count; ++k) {
    const TimedLine& line = log.lines[k];
    const auto step = static_cast<double>(line.pipeline);
    add_share(judged.measured, {bubble_of(line.forward + line.backward, step, 1), step}, count);
    record.costs.stages.assign(static_cast<std::size_t>(record.schedule.stages), stage_of_others(log, k));
    const Simulated run = simulate_or_refuse(record, row.id, progress);
    add_share(timers, {run.result.report.devices.back().bubble_ratio, static_cast<double>(run.result.report.makespan)},
              count);
  }
  judged.predicted[place_of(BubbleLevel::kTimers)] = timers;
  return judged;
}

// The error that is furthest from 0, and the means, of one quantity.
struct Errors {
  double mean_absolute = 0, bias = 0, worst = 0;
  std::string worst_id;

  void add(double error, const std::string& id, std::size_t runs) {
    mean_absolute += std::abs(error) / static_cast<double>(runs);
    bias += error / static_cast<double>(runs);
    if (!worst_id.empty() && std::abs(error) <= std::abs(worst)) return;
    worst = error;
    worst_id = id;
  }
};

}  // namespace

const char* to_string(BubbleLevel level) {
  switch (level) {
    case BubbleLevel::kReplay:
      return "replay";
    case BubbleLevel::kMedians:
      return "medians";
    case BubbleLevel::kTimers:
      return "timers";
    case BubbleLevel::kForecast:
      return "forecast";
  }
  return "";
}

double JudgedRun::bubble_error(BubbleLevel level) const {
  return predicted[place_of(level)].value().bubble - measured.bubble;
}
double JudgedRun::step_error(BubbleLevel level) const {
  return predicted[place_of(level)].value().step / measured.step - 1;
}

std::vector<JudgedRun> judge_bubbles(const MeasuredList& list, Progress& progress) {
  std::vector<JudgedRun> judged;
  for (const MeasuredRow& row : list.runs) {
    progress.phase("predicting " + row.id);
    judged.push_back(!row.log.empty()       ? judge_log(row, progress)
                     : row.schedule.empty() ? judge_recording(row, progress)
                                            : judge_stage_times(row, progress));
  }
  return judged;
}

LevelSummary summary_of(const std::vector<JudgedRun>& runs, BubbleLevel level) {
  LevelSummary summary;
  const auto has_level = [&](const JudgedRun& run) { return run.predicted[place_of(level)].has_value(); };
  summary.runs = static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), has_level));
  Errors bubble;
  Errors step;
  for (const JudgedRun& run : runs) {
    if (!has_level(run)) continue;
    bubble.add(run.bubble_error(level), run.row->id, summary.runs);
    step.add(run.step_error(level), run.row->id, summary.runs);
  }
  summary.bubble_mean_absolute = bubble.mean_absolute;
  summary.bubble_bias = bubble.bias;
  summary.bubble_worst = bubble.worst;
  summary.bubble_worst_id = bubble.worst_id;
  summary.step_mean_absolute = step.mean_absolute;
  summary.step_bias = step.bias;
  summary.step_worst = step.worst;
  summary.step_worst_id = step.worst_id;
  return summary;
}

}  // namespace debubble
