#include "tools/output/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {
namespace {

template <typename Member>
std::int64_t largest(const Report& report, Member member) {
  std::int64_t result = 0;
  for (const DeviceReport& device : report.devices)
    result = std::max(result, static_cast<std::int64_t>(member(device)));
  return result;
}

template <IdleCause kCause>
std::int64_t largest_idle(const Report& report) {
  return largest(report, [](const DeviceReport& d) { return at(d.idle_by_cause, kCause); });
}

template <MemoryCategory kCategory>
std::int64_t peak_by(const Report& report) {
  return largest(report, [](const DeviceReport& d) { return at(d.peak_by_category, kCategory); });
}

using MaybeReal = std::optional<double>;

constexpr Metric time(std::string_view name, std::string_view key, std::int64_t (*get)(const Report&),
                      std::string_view alias = "") {
  return {name, key, alias, MetricUnit::kNanoseconds, get, nullptr};
}

// A time that not every run has.
constexpr Metric maybe_time(std::string_view name, std::string_view key, std::int64_t (*get)(const Report&),
                            bool (*known)(const Report&)) {
  return {name, key, "", MetricUnit::kNanoseconds, get, nullptr, known};
}

// Of one kind of task of the step; where the run has a step but no such task, 0.
template <StepTask::Kind kKind, auto kMember>
std::int64_t of_step(const Report& report) {
  if (!report.step) return 0;
  for (const StepPart& part : report.step->parts) {
    if (part.kind == kKind) return part.*kMember;
  }
  return 0;
}

bool has_step_report(const Report& report) { return report.step.has_value(); }

constexpr Metric step_time(std::string_view name, std::string_view key, std::int64_t (*get)(const Report&)) {
  return {name, key, "", MetricUnit::kNanoseconds, get, nullptr, has_step_report};
}

constexpr Metric size(std::string_view name, std::string_view key, std::int64_t (*get)(const Report&),
                      std::string_view alias = "") {
  return {name, key, alias, MetricUnit::kBytes, get, nullptr};
}

// Of runs whose devices' memory is known.
bool has_fit(const Report& report) { return report.memory_fit.has_value(); }

constexpr Metric maybe_size(std::string_view name, std::string_view key, std::int64_t (*get)(const Report&),
                            bool (*known)(const Report&)) {
  return {name, key, "", MetricUnit::kBytes, get, nullptr, known};
}

constexpr Metric count_metric(std::string_view name, std::int64_t (*get)(const Report&)) {
  return {name, name, "", MetricUnit::kCount, get, nullptr};
}

constexpr Metric ratio_metric(std::string_view name, MaybeReal (*get)(const Report&), std::string_view alias = "") {
  return {name, name, alias, MetricUnit::kRatio, nullptr, get};
}

constexpr Metric number_metric(std::string_view name, std::string_view key, MaybeReal (*get)(const Report&)) {
  return {name, key, "", MetricUnit::kNumber, nullptr, get};
}

MaybeReal largest_shares(const Report& report) {
  double result = 0;
  for (const DeviceReport& device : report.devices) result = std::max(result, device.peak_activation_shares);
  return result;
}

using R = const Report&;
using D = const DeviceReport&;

constexpr std::array kMetrics = {
    time(
        "makespan", "makespan_ns", [](R r) { return r.makespan; }, "step"),
    time("span", "span_ns", [](R r) { return r.span; }),
    maybe_time(
        "steady_period", "steady_period_ns", [](R r) { return r.steady_period.value_or(0); },
        [](R r) { return r.steady_period.has_value(); }),
    time("ideal", "ideal_ns", [](R r) { return r.ideal; }),
    ratio_metric(
        "bubble_ratio", [](R r) { return MaybeReal(r.bubble_ratio); }, "bubble"),
    ratio_metric("bubble_over_ideal", [](R r) { return MaybeReal(r.bubble_over_ideal); }),
    ratio_metric("span_bubble_ratio", [](R r) { return MaybeReal(r.span_bubble_ratio); }),
    number_metric("throughput_samples", "throughput_samples_per_s", [](R r) { return r.samples_per_second; }),
    number_metric("throughput_tokens", "throughput_tokens_per_s", [](R r) { return r.tokens_per_second; }),
    ratio_metric("mfu", [](R r) { return r.mfu; }),
    count_metric("weight_copies", [](R r) { return std::int64_t{r.weight_copies}; }),
    size("p2p", "p2p_bytes", [](R r) { return r.p2p_bytes; }),
    count_metric("p2p_messages", [](R r) { return r.p2p_messages; }),
    time("critical_path.compute", "critical_path.compute_ns", [](R r) { return r.critical_path.compute; }),
    time("critical_path.transfer", "critical_path.transfer_ns", [](R r) { return r.critical_path.transfer; }),
    time("critical_path.collective", "critical_path.collective_ns", [](R r) { return r.critical_path.collective; }),
    time("critical_path.wait", "critical_path.wait_ns", [](R r) { return r.critical_path.wait; }),
    count_metric("critical_path.hops", [](R r) { return std::int64_t{r.critical_path.hops}; }),
    time("busy", "busy_ns", [](R r) { return largest(r, [](D d) { return d.busy; }); }),
    time("idle", "idle_ns", [](R r) { return largest(r, [](D d) { return d.idle; }); }),
    time("idle_by_cause.fill", "idle_by_cause_ns.fill", largest_idle<IdleCause::kFill>),
    time("idle_by_cause.drain", "idle_by_cause_ns.drain", largest_idle<IdleCause::kDrain>),
    time("idle_by_cause.dependency", "idle_by_cause_ns.dependency", largest_idle<IdleCause::kDependency>),
    time("idle_by_cause.transfer_latency", "idle_by_cause_ns.transfer_latency",
         largest_idle<IdleCause::kTransferLatency>),
    time("idle_by_cause.transfer_bandwidth", "idle_by_cause_ns.transfer_bandwidth",
         largest_idle<IdleCause::kTransferBandwidth>),
    time("idle_by_cause.transfer_contention", "idle_by_cause_ns.transfer_contention",
         largest_idle<IdleCause::kContention>),
    time("idle_by_cause.collective", "idle_by_cause_ns.collective", largest_idle<IdleCause::kCollective>),
    time("idle_by_cause.straggler", "idle_by_cause_ns.straggler", largest_idle<IdleCause::kStraggler>),
    time("idle_by_cause.memory_limit", "idle_by_cause_ns.memory_limit", largest_idle<IdleCause::kMemoryLimit>),
    time("idle_by_cause.launch_gap", "idle_by_cause_ns.launch_gap", largest_idle<IdleCause::kLaunchGap>),
    step_time("step.pipeline_end", "step.pipeline_end_ns", [](R r) { return r.step ? r.step->pipeline_end : 0; }),
    step_time("step.gradient_reduce", "step.parts.gradient_reduce.time_ns",
              of_step<StepTask::Kind::kGradientReduce, &StepPart::time>),
    step_time("step.gradient_reduce.exposed", "step.parts.gradient_reduce.exposed_ns",
              of_step<StepTask::Kind::kGradientReduce, &StepPart::exposed>),
    step_time("step.embedding_reduce", "step.parts.embedding_reduce.time_ns",
              of_step<StepTask::Kind::kEmbeddingReduce, &StepPart::time>),
    step_time("step.embedding_reduce.exposed", "step.parts.embedding_reduce.exposed_ns",
              of_step<StepTask::Kind::kEmbeddingReduce, &StepPart::exposed>),
    step_time("step.parameter_gather", "step.parts.parameter_gather.time_ns",
              of_step<StepTask::Kind::kParameterGather, &StepPart::time>),
    step_time("step.parameter_gather.exposed", "step.parts.parameter_gather.exposed_ns",
              of_step<StepTask::Kind::kParameterGather, &StepPart::exposed>),
    step_time("step.global_norm", "step.parts.global_norm.time_ns",
              of_step<StepTask::Kind::kGlobalNorm, &StepPart::time>),
    step_time("step.global_norm.exposed", "step.parts.global_norm.exposed_ns",
              of_step<StepTask::Kind::kGlobalNorm, &StepPart::exposed>),
    step_time("step.optimizer", "step.parts.optimizer.time_ns", of_step<StepTask::Kind::kOptimizer, &StepPart::time>),
    step_time("step.optimizer.exposed", "step.parts.optimizer.exposed_ns",
              of_step<StepTask::Kind::kOptimizer, &StepPart::exposed>),
    maybe_time(
        "replicas.fastest", "cluster.fastest_replica_ns",
        [](R r) { return r.cluster ? r.cluster->fastest_replica : 0; }, [](R r) { return r.cluster.has_value(); }),
    maybe_time(
        "replicas.slowest", "cluster.slowest_replica_ns",
        [](R r) { return r.cluster ? r.cluster->slowest_replica : 0; }, [](R r) { return r.cluster.has_value(); }),
    time("inside_collectives", "inside_collectives_ns", [](R r) { return r.inside_collectives; }),
    maybe_size(
        "memory_fit.spare", "memory_fit.spare_bytes", [](R r) { return r.memory_fit ? r.memory_fit->spare : 0; },
        has_fit),
    maybe_size(
        "memory_fit.reserved", "memory_fit.reserved_bytes",
        [](R r) { return r.memory_fit ? r.memory_fit->reserved : 0; }, has_fit),
    size(
        "peak_memory", "peak_memory_bytes", [](R r) { return largest(r, [](D d) { return d.peak_memory; }); }, "mem"),
    size("peak_activation", "peak_activation_bytes",
         [](R r) { return largest(r, [](D d) { return d.peak_activation; }); }),
    number_metric("peak_activation_shares", "peak_activation_shares", largest_shares),
    size("peak_by_category.weights", "peak_by_category_bytes.weights", peak_by<MemoryCategory::kWeights>),
    size("peak_by_category.gradients", "peak_by_category_bytes.gradients", peak_by<MemoryCategory::kGradients>),
    size("peak_by_category.optimizer", "peak_by_category_bytes.optimizer", peak_by<MemoryCategory::kOptimizer>),
    size("peak_by_category.extra_weights", "peak_by_category_bytes.extra_weights",
         peak_by<MemoryCategory::kExtraWeights>),
    size("peak_by_category.activations", "peak_by_category_bytes.activations", peak_by<MemoryCategory::kActivations>),
    size("peak_by_category.held_for_weight_grad", "peak_by_category_bytes.held_for_weight_grad",
         peak_by<MemoryCategory::kHeldForWeightGrad>),
    size("peak_by_category.received", "peak_by_category_bytes.received", peak_by<MemoryCategory::kReceived>),
    size("peak_by_category.comm_buffers", "peak_by_category_bytes.comm_buffers", peak_by<MemoryCategory::kCommBuffers>),
    size("peak_by_category.workspace", "peak_by_category_bytes.workspace", peak_by<MemoryCategory::kWorkspace>),
};

}  // namespace

std::span<const Metric> metric_catalog() { return kMetrics; }

bool is_known(const Metric& metric, const Report& report) {
  if (metric.real != nullptr) return metric.real(report).has_value();
  return metric.known == nullptr || metric.known(report);
}

const Metric* find_metric(std::string_view name) {
  const auto found = std::find_if(kMetrics.begin(), kMetrics.end(), [&](const Metric& metric) {
    return name == metric.name || name == metric.key || (!metric.alias.empty() && name == metric.alias);
  });
  return found == kMetrics.end() ? nullptr : &*found;
}

std::string closest_metric(std::string_view name) {
  std::vector<std::string> names;
  for (const Metric& metric : kMetrics) {
    names.emplace_back(metric.name);
    if (metric.key != metric.name) names.emplace_back(metric.key);
    if (!metric.alias.empty()) names.emplace_back(metric.alias);
  }
  return closest_name(name, names);
}

std::string format_metric(const Metric& metric, const Report& report) {
  if (!is_known(metric, report)) return "unknown";
  if (metric.real != nullptr) {
    const double value = metric.real(report).value_or(0);
    return metric.unit == MetricUnit::kRatio ? format_percent(value) : fmt::format("{:.6g}", value);
  }
  const std::int64_t value = metric.integer(report);
  if (metric.unit == MetricUnit::kNanoseconds) return format_duration(value);
  return metric.unit == MetricUnit::kBytes ? format_size(value) : fmt::format("{}", value);
}

}  // namespace debubble
