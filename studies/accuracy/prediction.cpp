#include "studies/accuracy/accuracy.hpp"

#include <algorithm>
#include <array>
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

struct EffectName {
  const char* name;
  bool ModelEffects::*part;
};

constexpr std::array kEffectNames{
    EffectName{"measured-products", &ModelEffects::measured_products},
    EffectName{"product-sizes", &ModelEffects::product_sizes},
    EffectName{"sustained", &ModelEffects::sustained},
    EffectName{"framework", &ModelEffects::framework},
    EffectName{"accumulation", &ModelEffects::accumulation},
    EffectName{"grouped-products", &ModelEffects::grouped_products},
    EffectName{"measured-attention", &ModelEffects::measured_attention},
    EffectName{"causal-softmax", &ModelEffects::causal_softmax},
    EffectName{"bias-sums", &ModelEffects::bias_sums},
    EffectName{"measured-passes", &ModelEffects::measured_passes},
    EffectName{"quantisation", &ModelEffects::quantisation},
    EffectName{"wide-logits", &ModelEffects::wide_logits},
    EffectName{"one-permutation", &ModelEffects::one_permutation},
    EffectName{"padded-rows", &ModelEffects::padded_rows},
    EffectName{"kernel-gaps", &ModelEffects::kernel_gaps},
    EffectName{"measured-collectives", &ModelEffects::measured_collectives},
    EffectName{"slowed-compute", &ModelEffects::slowed_compute},
    EffectName{"expert-launches", &ModelEffects::expert_launches},
    EffectName{"counted-tokens", &ModelEffects::counted_tokens},
};

constexpr double kSecond = 1e9;
constexpr double kGibibyte = 1024.0 * 1024 * 1024;

Scenario scenario_of(const ResultRecord& record, const ModelEffects& effects) {
  ScenarioFlags flags;
  set_flags(flag_rows(flags), record.arguments);
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

Prediction predict(const ResultRecord& record, const ModelEffects& effects) {
  const Scenario scenario = scenario_of(record, effects);
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
  const auto lowered = lower(job.schedule, job.p2p);
  const auto* program = std::get_if<Program>(&lowered);
  if (program == nullptr) refuse_deadlocked_run(record);
  const Totals totals = totals_of(job, *program);
  prediction.step_seconds = static_cast<double>(totals.makespan) / kSecond;
  prediction.bubble = predicted_bubble(totals);
  return prediction;
}

std::optional<ModelEffects> effects_without(std::string_view part) {
  ModelEffects effects;
  for (const EffectName& one : kEffectNames) {
    if (part != one.name) continue;
    effects.*one.part = false;
    return effects;
  }
  return std::nullopt;
}

std::vector<std::string> effect_names() {
  std::vector<std::string> names;
  for (const EffectName& one : kEffectNames) names.emplace_back(one.name);
  return names;
}

std::string command_of(const ResultRecord& record) {
  std::string command = "debubble simulate";
  for (const std::string& argument : record.arguments) {
    const std::size_t equals = argument.find('=');
    command += " " + argument.substr(0, equals);
    if (equals != std::string::npos) command += " " + shell_quoted(argument.substr(equals + 1));
  }
  return command;
}

}  // namespace debubble
