#include "tools/views/whatif/whatif_json.hpp"

#include <cmath>

#include "formats/json/json.hpp"

namespace debubble {

namespace {

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// The report, without what the document says once for all of its runs.
Json report_of(const Report& report, const ToolFacts& tool) {
  Json json = Json::parse(report_json(report, tool));
  json.erase("schema_version");
  json.erase("tool");
  json.erase("command_line");
  return json;
}

double change_or_nan(Nanoseconds now, Nanoseconds before) {
  return before == 0 ? std::nan("") : static_cast<double>(now) / static_cast<double>(before) - 1;
}

Json difference_json(const Report& base, const Report& changed) {
  Json devices = Json::array();
  for (std::size_t d = 0; d < base.devices.size() && base.devices.size() == changed.devices.size(); ++d) {
    const DeviceReport& before = base.devices[d];
    const DeviceReport& now = changed.devices[d];
    Json causes = Json::object();
    for (int k = 0; k < kIdleCauses; ++k) {
      const auto at = static_cast<std::size_t>(k);
      causes[to_string(static_cast<IdleCause>(k))] = now.idle_by_cause[at] - before.idle_by_cause[at];
    }
    devices.push_back({{"device", d},
                       {"busy_ns", now.busy - before.busy},
                       {"idle_ns", now.idle - before.idle},
                       {"idle_by_cause_ns", causes}});
  }
  return {{"makespan_ns", changed.makespan - base.makespan},
          {"makespan_ratio", number_or_null(change_or_nan(changed.makespan, base.makespan))},
          {"bubble_ratio", number_or_null(changed.bubble_ratio - base.bubble_ratio)},
          {"bubble_over_ideal", number_or_null(changed.bubble_over_ideal - base.bubble_over_ideal)},
          {"devices", devices}};
}

Json alone_json(const WhatIfResult& result) {
  Json list = Json::array();
  for (const AloneChange& one : result.alone) {
    const Nanoseconds step = one.step.value_or(0);
    list.push_back(
        {{"change", one.label},
         {"makespan_ns", one.step ? Json(step) : Json(nullptr)},
         {"makespan_ratio", one.step ? number_or_null(change_or_nan(step, result.base.makespan)) : Json(nullptr)}});
  }
  return list;
}

Json seeds_json(const WhatIfResult& result) {
  const SeedTimes& seeds = *result.seeds;
  return {{"drawn", result.drawn},
          {"first_seed", seeds.first_seed},
          {"seeds", seeds.times.size()},
          {"mean_ns", seeds.mean},
          {"standard_deviation_ns", number_or_null(seeds.deviation)},
          {"p50_ns", seeds.p50},
          {"p95_ns", seeds.p95},
          {"p99_ns", seeds.p99},
          {"least_ns", seeds.least},
          {"least_seed", seeds.least_seed},
          {"most_ns", seeds.most},
          {"most_seed", seeds.most_seed},
          {"histogram", seeds.bins},
          {"makespan_ns", seeds.times}};
}

Json sensitivity_json(const Sensitivity& sensitivity) {
  Json list = Json::array();
  for (const Derivative& derivative : sensitivity.derivatives) {
    const bool bytes = derivative.name.kind == CostName::Kind::kTimePerByte;
    Json one{{"cost", to_string(derivative.name)}};
    if (!derivative.links.empty()) one["links"] = derivative.links;
    one[bytes ? "bandwidth_bytes_per_s" : "each_ns"] = derivative.cost;
    one[bytes ? "growing_bytes" : "growing"] = number_or_null(derivative.times.growing);
    one[bytes ? "shrinking_bytes" : "shrinking"] = number_or_null(derivative.times.shrinking);
    one["at_stake_ns"] = derivative.at_stake;
    list.push_back(std::move(one));
  }
  Json json{{"makespan_ns", sensitivity.step},
            {"method", sensitivity.exact ? "critical paths" : "finite differences"},
            {"pipeline_replica", sensitivity.replica},
            {"derivatives", list}};
  if (!sensitivity.left_out.empty()) json["left_out"] = sensitivity.left_out;
  return json;
}

Json candidates_json(const std::vector<Candidate>& candidates) {
  return json_list(candidates, [](const Candidate& candidate) -> Json {
    return {{"change", candidate.label},
            {"makespan_ns", candidate.step},
            {"microbatches", candidate.microbatches},
            {"gain_ratio", number_or_null(candidate.gain)}};
  });
}

}  // namespace

std::string whatif_json(const WhatIfResult& result, const ToolFacts& tool) {
  Json json = json_head(1, tool);
  json["changes"] = result.changes;
  json["base"] = report_of(result.base, tool);
  if (!result.changes.empty() && has_result(result.base)) {
    json["changed"] = report_of(result.changed, tool);
    if (has_result(result.changed)) json["difference"] = difference_json(result.base, result.changed);
  }
  if (!result.note.empty()) json["note"] = result.note;
  if (!result.no_effect.empty()) json["no_effect"] = result.no_effect;
  if (!result.alone.empty()) json["alone"] = alone_json(result);
  if (result.seeds) json["seeds"] = seeds_json(result);
  if (result.sensitivity) {
    json["sensitivity"] = sensitivity_json(*result.sensitivity);
    json["candidates"] = candidates_json(result.candidates);
  }
  return json.text(2) + "\n";
}

}  // namespace debubble
