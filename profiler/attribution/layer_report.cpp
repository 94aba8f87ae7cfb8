#include "profiler/attribution/layer_report.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "profiler/attribution/statistics.hpp"

namespace debubble::attribution {
namespace {

using Selected = std::vector<Nanoseconds>;

bool any_backward(const Instance& execution) {
  return execution.has(Phase::kInputGrad) || execution.has(Phase::kWeightGrad) || execution.has(Phase::kBackward);
}

// Executions with recomputed forwards moved to the backward they were made for: the k-th recompute that is alone
// belongs to the k-th backward without one.
std::vector<Instance> with_recompute(const std::vector<Instance>& executions) {
  std::vector<Instance> result;
  std::vector<Nanoseconds> alone;
  for (const Instance& execution : executions) {
    if (execution.has(Phase::kRecompute) && !any_backward(execution)) {
      alone.push_back(execution.time(Phase::kRecompute));
      if (!execution.has(Phase::kForward)) continue;
    }
    result.push_back(execution);
  }
  auto next = alone.begin();
  for (Instance& execution : result) {
    if (next == alone.end()) break;
    if (any_backward(execution) && !execution.has(Phase::kRecompute)) {
      execution.times[index_of(Phase::kRecompute)] += *next++;
    }
  }
  return result;
}

Nanoseconds whole_backward(const Instance& execution) { return execution.total() - execution.time(Phase::kForward); }

template <typename Has, typename Time>
TimeStatistics statistics(const std::vector<Instance>& executions, const Has& has, const Time& time) {
  Selected selected;
  for (const Instance& execution : executions) {
    if (has(execution)) selected.push_back(time(execution));
  }
  return statistics_of(std::move(selected));
}

TimeStatistics statistics(const std::vector<Instance>& executions, Phase phase) {
  return statistics(
      executions, [&](const Instance& execution) { return execution.has(phase); },
      [&](const Instance& execution) { return execution.time(phase); });
}

GradSplit weakest(std::uint16_t rules) {
  constexpr std::pair<Rule, GradSplit> kFromWeak[] = {{Rule::kOrder, GradSplit::kOrder},
                                                      {Rule::kName, GradSplit::kName},
                                                      {Rule::kShape, GradSplit::kShape},
                                                      {Rule::kExplicit, GradSplit::kRange}};
  for (const auto& [rule, split] : kFromWeak) {
    if ((rules & bit_of(rule)) != 0) return split;
  }
  return GradSplit::kNone;
}

void report_halves(const std::vector<Instance>& executions, ProfileLayer& layer) {
  layer.input_grad = statistics(
      executions, [](const Instance& execution) { return execution.has(Phase::kInputGrad); },
      [](const Instance& execution) { return execution.time(Phase::kInputGrad) + execution.time(Phase::kRecompute); });
  layer.weight_grad = statistics(executions, Phase::kWeightGrad);
  const auto both = [](const Instance& execution) {
    return execution.has(Phase::kInputGrad) && execution.has(Phase::kWeightGrad);
  };
  const TimeStatistics whole = statistics(executions, both, whole_backward);
  if (whole.n > 0) layer.backward = whole;
}

void report_backward(const std::vector<Instance>& executions, const LayerTime& time, LayerReport& report) {
  ProfileLayer& layer = report.layer;
  const auto ran = [&](Phase phase) {
    return std::any_of(executions.begin(), executions.end(),
                       [&](const Instance& execution) { return execution.has(phase); });
  };
  const bool split = time.unsplit == 0 && (ran(Phase::kInputGrad) || ran(Phase::kWeightGrad));
  if (split) report_halves(executions, layer);
  if (split) layer.grad_split = weakest(time.gradient_rules);
  if (!split || ran(Phase::kBackward)) {
    const auto whole = [&](const Instance& execution) {
      return split ? execution.has(Phase::kBackward) : any_backward(execution);
    };
    layer.backward = statistics(executions, whole, whole_backward);
  }
  if (layer.backward && layer.backward->n == 0 && !split) {
    report.notes.emplace_back(kNoBackwardNote);
  }
}

void report_memory(const LayerSamples& samples, const LayerFacts* facts, ProfileLayer& layer) {
  layer.kind = facts != nullptr && !facts->kind.empty() ? facts->kind : "layer";
  if (facts == nullptr) {
    layer.activation = median_of(samples.kept);
    layer.workspace = median_of(samples.workspace);
    return;
  }
  layer.activation = facts->activation;
  layer.weight_grad_held = facts->weight_grad_held;  // can be more than is kept: I makes gradients that W needs
  layer.output = facts->output;
  layer.parameters = facts->parameters;
  layer.workspace = facts->workspace;
}

void note_times(const LayerTime& time, LayerReport& report) {
  const auto note = [&](Nanoseconds amount, const char* what) {
    if (amount == 0) return;
    report.notes.push_back(std::to_string(amount) + " ns " + what);
  };
  note(time.recomputed, "of recomputed forward are counted in its backward");
  note(time.unsplit, "of its backward compute both gradients at once or have unknown operands: it is not split");
  note(time.by_order, "of its backward are matmuls of equal shapes, told apart by their order");
  if (report.layer.forward.n == 0) {
    report.notes.emplace_back("no forward counts, its time is 0");
  }
}

// The longest first, in total; beyond kMostKernels they are one.
std::vector<KernelSummary> summarised(const std::map<std::string, KernelSummary>& by_name) {
  std::vector<KernelSummary> kernels;
  for (const auto& [name, kernel] : by_name) kernels.push_back(kernel);
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const KernelSummary& left, const KernelSummary& right) { return left.total > right.total; });
  if (kernels.size() <= kMostKernels) return kernels;
  KernelSummary others{"others", 0, 0};
  for (std::size_t k = kMostKernels; k < kernels.size(); ++k) {
    others.count += kernels[k].count;
    others.total += kernels[k].total;
  }
  kernels.resize(kMostKernels);
  kernels.push_back(others);
  return kernels;
}

}  // namespace

LayerTime time_of(const std::vector<Tally>& tallies, const NameTable& names) {
  LayerTime time;
  std::map<std::string, KernelSummary> by_name;
  for (const Tally& tally : tallies) {
    time.total += tally.total;
    if (tally.phase == Phase::kRecompute) time.recomputed += tally.total;
    if (tally.rule == Rule::kUnsplit) time.unsplit += tally.total;
    if (tally.rule == Rule::kOrder) time.by_order += tally.total;
    if (tally.phase == Phase::kInputGrad || tally.phase == Phase::kWeightGrad) {
      time.gradient_rules = static_cast<std::uint16_t>(time.gradient_rules | bit_of(tally.rule));
    }
    const std::string name = demangled(names.text(tally.kernel));
    KernelSummary& kernel = by_name.try_emplace(name, KernelSummary{name, 0, 0}).first->second;
    kernel.count += tally.count;
    kernel.total += tally.total;
  }
  time.kernels = summarised(by_name);
  return time;
}

LayerReport report_layer(const std::string& name, const LayerSamples& samples, const LayerTime& time,
                         const LayerFacts* facts) {
  LayerReport report;
  ProfileLayer& layer = report.layer;
  layer.name = name;
  layer.kernels = time.kernels;
  const std::vector<Instance> executions = with_recompute(samples.executions);
  layer.forward = statistics(executions, Phase::kForward);
  report_backward(executions, time, report);
  report_memory(samples, facts, layer);
  note_times(time, report);
  return report;
}

}  // namespace debubble::attribution
