#include "studies/accuracy/prediction.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "formats/text/shell.hpp"
#include "scenario/check_scenario.hpp"
#include "sim/core/error.hpp"
#include "sim/engine/cluster.hpp"
#include "sim/engine/simulate.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {
namespace {

constexpr double kSecond = 1e9;
constexpr double kGibibyte = 1024.0 * 1024 * 1024;

std::vector<std::string> arguments_of(const ResultRecord& record, const FittedConstant* constant) {
  std::vector<std::string> arguments = record.arguments;
  if (constant != nullptr) arguments.push_back("--calibrate=" + flag_text(*constant));
  return arguments;
}

Scenario scenario_of(const ResultRecord& record, const FittedConstant* constant, const ModelEffects& effects) {
  ScenarioFlags flags;
  set_flags(flag_rows(flags), arguments_of(record, constant));
  flags.transformer.effects = effects;
  return check_scenario(flags);
}

[[noreturn]] void refuse_deadlocked_run(const ResultRecord& record) {
  throw InputError(Diagnostic{"D009", record.id, "the run ends in a deadlock, so that it has no step time",
                              "give the record another schedule or --p2p overlapped"});
}

// Spans are not kept: a few numbers per device are all that is asked.
Totals totals_of(const Job& job, const Program& program) {
  const bool plain = !job.topology.contended() && job.step.empty() && job.variation.none();
  if (plain) return simulate_totals(program, job.costs, job.topology);
  const int replicas = job.variation.replicas_differ() ? job.pipeline_replicas : 1;
  ClusterTotals all =
      simulate_cluster_totals(program, job.schedule, job.costs, job.topology, {&job.step, &job.variation, replicas});
  Totals slowest =
      std::move(*std::max_element(all.replicas.begin(), all.replicas.end(),
                                  [](const Totals& a, const Totals& b) { return a.makespan < b.makespan; }));
  slowest.makespan = all.makespan;
  return slowest;
}

double predicted_bubble(const Totals& totals) {
  Nanoseconds busy = 0;
  for (const DeviceTotals& device : totals.devices) busy += device.busy;
  const double lanes = static_cast<double>(totals.span) * static_cast<double>(totals.devices.size());
  return lanes > 0 ? 1 - static_cast<double>(busy) / lanes : 0;
}

bool asks_for(const ResultRecord& record, Quantity quantity) {
  return std::any_of(record.measured.begin(), record.measured.end(),
                     [&](const MeasuredQuantity& one) { return one.quantity == quantity; });
}

// Memory is read off the whole timeline, as `simulate` does.
double peak_gibibytes(const Report& report) {
  if (report.memory_fit) return static_cast<double>(report.memory_fit->allocated) / kGibibyte;
  Bytes peak = 0;
  for (const DeviceReport& device : report.devices) peak = std::max(peak, device.peak_memory);
  return static_cast<double>(peak) / kGibibyte;
}

}  // namespace

Prediction predict(const ResultRecord& record, const FittedConstant* constant, const ModelEffects& effects) {
  const Scenario scenario = scenario_of(record, constant, effects);
  NoProgress progress;
  const Job job = prepare(scenario, scenario.schedules.empty() ? "1f1b" : scenario.schedules.front(), progress);
  Prediction prediction;
  if (asks_for(record, Quantity::kPeakMemory)) {
    const Report report = simulate(job, progress).report;
    if (report.deadlock) refuse_deadlocked_run(record);
    prediction.step_seconds = static_cast<double>(report.makespan) / kSecond;
    prediction.bubble = report.span_bubble_ratio;
    prediction.peak_gib = peak_gibibytes(report);
    return prediction;
  }
  const auto lowered = lower(job.schedule, scenario.p2p);
  const auto* program = std::get_if<Program>(&lowered);
  if (program == nullptr) refuse_deadlocked_run(record);
  const Totals totals = totals_of(job, *program);
  prediction.step_seconds = static_cast<double>(totals.makespan) / kSecond;
  prediction.bubble = predicted_bubble(totals);
  return prediction;
}

std::string command_of(const ResultRecord& record, const FittedConstant* constant) {
  std::string command = "debubble simulate";
  for (const std::string& argument : arguments_of(record, constant)) {
    const std::size_t equals = argument.find('=');
    command += " " + argument.substr(0, equals);
    if (equals != std::string::npos) command += " " + shell_quoted(argument.substr(equals + 1));
  }
  return command;
}

}  // namespace debubble
