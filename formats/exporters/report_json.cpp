#include "formats/exporters/report_json.hpp"

#include <cmath>
#include <optional>

#include "formats/exporters/finding_text.hpp"
#include "formats/json/json.hpp"
#include "sim/core/at.hpp"

namespace debubble {
namespace {

constexpr int kReportVersion = 1;

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json finite_or_null(const std::optional<double>& value) { return value ? finite_or_null(*value) : Json(nullptr); }

Json deadlock_json(const Deadlock& deadlock) {
  Json cycle = json_list(deadlock.cycle, [](const Deadlock::Wait& wait) -> Json {
    return {{"device", wait.device},
            {"position", wait.position},
            {"op", to_string(wait.op)},
            {"waits_for", to_string(wait.waits_for)}};
  });
  Json result = Json::object();
  result["cycle"] = cycle;
  return result;
}

Json device_json(const DeviceReport& device) {
  Json idle = Json::object();
  for (int i = 0; i < kIdleCauses; ++i) {
    idle[to_string(static_cast<IdleCause>(i))] = at(device.idle_by_cause, i);
  }
  Json peak = Json::object();
  for (int i = 0; i < kMemoryCategories; ++i) {
    peak[to_string(static_cast<MemoryCategory>(i))] = at(device.peak_by_category, i);
  }
  Json op = device.peak_memory_op.empty() ? Json(nullptr) : Json(to_string(device.peak_memory_op));
  return {{"device", device.device},
          {"busy_ns", device.busy},
          {"idle_ns", device.idle},
          {"bubble_ratio", finite_or_null(device.bubble_ratio)},
          {"idle_by_cause_ns", idle},
          {"peak_memory_bytes", device.peak_memory},
          {"peak_memory_at_ns", device.peak_memory_at},
          {"peak_memory_op", op},
          {"peak_by_category_bytes", peak},
          {"peak_activation_bytes", device.peak_activation},
          {"peak_activation_shares", finite_or_null(device.peak_activation_shares)}};
}

Json updates_json(const UpdateCount& count) {
  return {{"mean", finite_or_null(count.mean)}, {"min", count.least}, {"max", count.most}};
}

Json stream_json(const StreamReport& stream) {
  Json stages = json_list(stream.stages, [](const StageVersions& stage) -> Json {
    return {{"stage", stage.stage},
            {"devices", stage.devices},
            {"forward_staleness", updates_json(stage.forward_late)},
            {"backward_staleness", updates_json(stage.backward_late)},
            {"inconsistency", updates_json(stage.inconsistent)},
            {"forward_ahead", stage.forward_ahead},
            {"backward_ahead", stage.backward_ahead},
            {"weight_versions", stage.live_versions},
            {"extra_weight_buffers", stage.extra_copies},
            {"microbatches_in_flight", stage.in_flight},
            {"stable_step_ratio", finite_or_null(stable_step_ratio(stage))}};
  });
  const Json period = stream.period ? finite_or_null(stream.period->per_microbatch()) : Json(nullptr);
  return {{"versions", stream.versions},
          {"update_every", stream.update_every},
          {"period_per_microbatch_ns", period},
          {"throughput_samples_per_s", finite_or_null(stream.samples_per_second)},
          {"throughput_tokens_per_s", finite_or_null(stream.tokens_per_second)},
          {"stages", stages}};
}

Json extra_work_json(const FilledBubbles& filled) {
  Json devices = Json::array();
  for (std::size_t d = 0; d < filled.devices.size(); ++d) {
    const DeviceWork& device = filled.devices[d];
    devices.push_back(
        {{"device", d},
         {"bubble_ns", device.bubble},
         {"work_ns", device.work},
         {"outside_ns", device.outside},
         {"work_over_bubble", device.bubble == 0 ? Json(nullptr) : finite_or_null(device.work_over_bubble())}});
  }
  return {{"refresh_iterations", filled.iterations},
          {"refresh_iterations_at_least", filled.least},
          {"utilisation_before", finite_or_null(filled.utilisation_before)},
          {"utilisation_after", finite_or_null(filled.utilisation_after)},
          {"precondition_ns", filled.precondition},
          {"items", filled.items.size()},
          {"devices", devices}};
}

Json cluster_json(const ClusterReport& cluster) {
  return {{"topology", cluster.topology},
          {"network", cluster.network},
          {"devices", cluster.devices},
          {"ranks", cluster.ranks},
          {"tensor", cluster.tensor},
          {"context", cluster.context},
          {"expert", cluster.expert},
          {"data", cluster.data},
          {"simulated_replicas", cluster.simulated_replicas},
          {"fastest_replica_ns", cluster.fastest_replica},
          {"slowest_replica_ns", cluster.slowest_replica}};
}

Json step_json(const StepReport& step) {
  Json parts = Json::object();
  for (const StepPart& part : step.parts) {
    parts[to_string(part.kind)] = {{"tasks", part.tasks},
                                   {"time_ns", part.time},
                                   {"exposed_ns", part.exposed},
                                   {"contention_ns", part.contention},
                                   {"bytes", part.bytes}};
  }
  return {{"pipeline_end_ns", step.pipeline_end}, {"parts", parts}};
}

Json memory_fit_json(const MemoryFit& fit) {
  return {{"capacity_bytes", fit.capacity},
          {"fits", fit.spare >= 0},
          {"device", fit.device},
          {"allocated_bytes", fit.allocated},
          {"reserved_bytes", fit.reserved},
          {"spare_bytes", fit.spare},
          {"at_ns", fit.at},
          {"op", fit.op.empty() ? Json(nullptr) : Json(to_string(fit.op))},
          {"remedies", fit.remedies}};
}

void add_numbers(Json& json, const Report& report) {
  json["makespan_ns"] = report.makespan;
  if (report.step_range) json["step_range"] = step_range_json(*report.step_range);
  json["span_ns"] = report.span;
  json["steady_period_ns"] = report.steady_period;
  json["ideal_ns"] = report.ideal;
  json["bubble_ratio"] = finite_or_null(report.bubble_ratio);
  json["bubble_over_ideal"] = finite_or_null(report.bubble_over_ideal);
  json["span_bubble_ratio"] = finite_or_null(report.span_bubble_ratio);
  json["throughput_samples_per_s"] = finite_or_null(report.samples_per_second);
  json["throughput_tokens_per_s"] = finite_or_null(report.tokens_per_second);
  json["mfu"] = finite_or_null(report.mfu);
  json["weight_copies"] = report.weight_copies;
  json["p2p_bytes"] = report.p2p_bytes;
  json["p2p_messages"] = report.p2p_messages;
  if (report.copies > 0) json["copies"] = report.copies;
  const CriticalPath& path = report.critical_path;
  json["critical_path"] = {{"compute_ns", path.compute},
                           {"transfer_ns", path.transfer},
                           {"collective_ns", path.collective},
                           {"wait_ns", path.wait},
                           {"hops", path.hops}};
  if (report.inside_collectives > 0) json["inside_collectives_ns"] = report.inside_collectives;
  if (report.cluster) json["cluster"] = cluster_json(*report.cluster);
  if (report.step) json["step"] = step_json(*report.step);
  if (report.memory_fit) json["memory_fit"] = memory_fit_json(*report.memory_fit);
  if (report.extra_work) json["extra_work"] = extra_work_json(*report.extra_work);
  if (report.stream) json["stream"] = stream_json(*report.stream);
  Json devices = Json::array();
  for (const DeviceReport& device : report.devices) {
    devices.push_back(device_json(device));
    if (device.peak_host_memory > 0) devices.back()["peak_host_bytes"] = device.peak_host_memory;
  }
  json["devices"] = devices;
}

Json needs_json(const ScheduleNeeds& needs) {
  return {{"more_weights", needs.more_weights},
          {"split_backward", needs.split_backward},
          {"even_devices", needs.even_devices},
          {"asynchronous", needs.asynchronous},
          {"moves_activations", needs.moves_activations},
          {"slices", needs.slices},
          {"frameworks", needs.frameworks},
          {"not_charged", needs.not_charged},
          {"best_in", needs.best_in},
          {"chunks_tried", needs.chunks_tried}};
}

Json to_json(const Report& report, const ToolFacts& tool, const MoreMicrobatches& more = std::nullopt) {
  Json json = json_head(kReportVersion, tool);
  json["schedule"] = schedule_json(report.schedule);
  json["assumptions"] = assumptions_json(report.assumptions);
  if (report.deadlock) json["deadlock"] = deadlock_json(*report.deadlock);
  if (has_result(report)) add_numbers(json, report);
  Json findings = json_list(report.findings, [&](const Finding& finding) { return finding_json(finding, report); });
  json["findings"] = findings;
  if (has_result(report) && report.makespan > 0) json["limit"] = limit_json(find_limit(report, more));
  return json;
}

std::string report_dump(const Json& json) { return json.text(2) + "\n"; }

}  // namespace

Json schedule_json(const ScheduleFacts& facts) {
  Json params = Json::object();
  for (const auto& [name, value] : facts.params) params[name] = value;
  return {{"name", facts.name},     {"devices", facts.devices},
          {"stages", facts.stages}, {"microbatches", facts.microbatches},
          {"chunks", facts.chunks}, {"replicas", facts.replicas},
          {"params", params}};
}

Json json_head(int version, const ToolFacts& tool) {
  return {{"schema_version", version},
          {"tool", {{"name", "debubble"}, {"version", tool.version}}},
          {"command_line", tool.command_line}};
}

Json assumptions_json(const std::vector<Assumption>& assumptions) {
  return json_list(assumptions, [](const Assumption& one) -> Json {
    return {{"what", label(one)}, {"value", full_text(one)}, {"source", to_string(one.source)}};
  });
}

Json limit_json(const Limit& limit) {
  using Kind = Limit::Kind;
  const bool has_cause = limit.kind == Kind::kTransfers || limit.kind == Kind::kOtherCause;
  const bool one_device = limit.kind == Kind::kDevice;
  const bool of_step = limit.kind == Kind::kCompute || one_device;
  Json more = nullptr;
  if (limit.more_microbatches) {
    more = {{"microbatches", limit.more_microbatches->first},
            {"bubble_ratio", finite_or_null(limit.more_microbatches->second)}};
  }
  return {{"what", to_string(limit.kind)},
          {"share", finite_or_null(limit.share)},
          {"share_of", of_step ? "step" : "idle"},
          {"device", one_device ? Json(limit.device) : Json(nullptr)},
          {"least_busy_device", one_device ? Json(limit.least_busy_device) : Json(nullptr)},
          {"least_share", one_device ? finite_or_null(limit.least_share) : Json(nullptr)},
          {"uneven_work", limit.kind == Kind::kDependency ? Json(limit.uneven_work) : Json(nullptr)},
          {"cause", has_cause ? Json(to_string(limit.cause)) : Json(nullptr)},
          {"more_microbatches", more}};
}

std::string report_json(const Report& report, const ToolFacts& tool, const MoreMicrobatches& more) {
  return report_dump(to_json(report, tool, more));
}

Json time_kinds_json(const std::vector<TimeKind>& kinds) {
  return json_list(kinds, [](const TimeKind& kind) -> Json {
    return {{"kind", kind.name}, {"share", kind.share}, {"scatter", kind.scatter}};
  });
}

Json step_range_json(const StepRange& range) {
  const Json kinds = time_kinds_json(range.kinds);
  return {{"coverage", range.coverage}, {"low_ns", range.low}, {"high_ns", range.high},    {"scatter", range.scatter},
          {"repeat", range.repeat},     {"kinds", kinds},      {"records", range.records}, {"sources", range.sources}};
}

std::string reports_json(std::span<const Report> reports, std::span<const ScheduleNeeds> needs, const ToolFacts& tool,
                         std::span<const std::optional<BesideFastest>> beside, std::span<const std::string> configs) {
  Json json;
  json["schema_version"] = kReportVersion;
  Json runs = Json::array();
  for (std::size_t k = 0; k < reports.size(); ++k) {
    runs.push_back(to_json(reports[k], tool));
    if (has_result(reports[k])) runs.back()["needs"] = needs_json(needs[k]);
    if (k < configs.size()) runs.back()["config"] = configs[k];
    if (k >= beside.size() || !beside[k]) continue;
    runs.back()["beside_fastest"] = {
        {"slower", beside[k]->slower}, {"needed", beside[k]->needed}, {"told_apart", beside[k]->told_apart()}};
  }
  json["runs"] = runs;
  return report_dump(json);
}

}  // namespace debubble
