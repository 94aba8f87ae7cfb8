#include "studies/accuracy/bubbles.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "scenario/check_scenario.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"
#include "studies/accuracy/timed_log.hpp"
#include "studies/runs/open_run.hpp"
#include "studies/runs/predict.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {
namespace {

constexpr Nanoseconds kEqualForward = 1'000'000;

std::size_t place_of(BubbleLevel level) { return static_cast<std::size_t>(level); }

double bubble_of(Nanoseconds busy, double step, int devices) {
  return 1 - static_cast<double>(busy) / (step * devices);
}

[[noreturn]] void refuse_deadlock(const std::string& id) {
  throw InputError(
      Diagnostic{"D009", id, "its order of ops cannot be simulated: it waits for itself", "debubble diff shows where"});
}

Simulated simulate_or_refuse(const RunRecord& record, const std::string& id, Progress& progress) {
  Simulated run = simulate_record(record, progress);
  if (run.result.report.deadlock) refuse_deadlock(id);
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
    add_share(judged.measured, measured_step(record, k), count);
    add_share(replay, replayed_step(record, k, predicted), count);
    if (count < 2) continue;
    add_share(medians, of_simulation(simulate_or_refuse(with_medians_of_others(record, k), row.id, progress)), count);
  }
  judged.predicted[place_of(BubbleLevel::kReplay)] = replay;
  if (count > 1) judged.predicted[place_of(BubbleLevel::kMedians)] = medians;
  // A run of our own has the costs that were measured before it; an imported one has its own medians.
  if (record.origin.backend != "import") judged.predicted[place_of(BubbleLevel::kForecast)] = of_simulation(predicted);
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

// Flags are wrong at their place in the list.
std::vector<Diagnostic> placed_in_list(std::vector<Diagnostic> problems, const MeasuredRow& row) {
  for (Diagnostic& problem : problems) {
    if (problem.place.empty()) problem.place = row.pointer;
    if (!problem.place.starts_with("--")) continue;
    const std::string flag = problem.place.substr(2, problem.place.find_first_of(" :") - 2);
    problem.place = row.pointer + "/scenario/" + flag;
  }
  return problems;
}

Simulated simulate_flags(const MeasuredRow& row, Progress& progress) {
  try {
    const Scenario scenario = check_scenario(*row.flags);
    return simulate(scenario, scenario.schedules.empty() ? "1f1b" : scenario.schedules.front(), progress);
  } catch (const InputError& error) {
    throw InputError(placed_in_list(error.diagnostics(), row));
  }
}

JudgedRun judge_scenario(const MeasuredRow& row, Progress& progress) {
  const Simulated run = simulate_flags(row, progress);
  if (run.result.report.deadlock) refuse_deadlock(row.id);
  RunRecord order;
  order.schedule = run.job.schedule;
  JudgedRun judged;
  judged.row = &row;
  judged.schedule = order.schedule.name;
  judged.devices = order.schedule.devices;
  judged.microbatches = order.schedule.microbatches;
  judged.ideal = ideal_bubble(order, row.id, progress);
  judged.has_bubble = false;
  judged.measured.step = static_cast<double>(row.step);
  judged.predicted[place_of(BubbleLevel::kForecast)] = of_simulation(run);
  return judged;
}

JudgedRun judge(const MeasuredRow& row, Progress& progress) {
  if (row.flags) return judge_scenario(row, progress);
  if (!row.log.empty()) return judge_log(row, progress);
  return row.schedule.empty() ? judge_recording(row, progress) : judge_stage_times(row, progress);
}

void add_error(double error, const std::string& id, std::size_t runs, RunErrors& errors) {
  errors.mean_absolute += std::abs(error) / static_cast<double>(runs);
  errors.bias += error / static_cast<double>(runs);
  if (!errors.worst_id.empty() && std::abs(error) <= std::abs(errors.worst)) return;
  errors.worst = error;
  errors.worst_id = id;
}

}  // namespace

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
    judged.push_back(judge(row, progress));
  }
  return judged;
}

LevelSummary summary_of(const std::vector<JudgedRun>& runs, BubbleLevel level) {
  LevelSummary summary;
  const auto has_level = [&](const JudgedRun& run) { return run.predicted[place_of(level)].has_value(); };
  const auto has_both = [&](const JudgedRun& run) { return run.has_bubble && has_level(run); };
  summary.runs = static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), has_level));
  summary.bubbles = static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), has_both));
  for (const JudgedRun& run : runs) {
    if (!has_level(run)) continue;
    if (run.has_bubble) add_error(run.bubble_error(level), run.row->id, summary.bubbles, summary.bubble);
    add_error(run.step_error(level), run.row->id, summary.runs, summary.step);
  }
  return summary;
}

}  // namespace debubble
