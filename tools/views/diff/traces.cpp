#include "tools/views/diff/traces.hpp"

#include <cmath>
#include <string_view>

#include "formats/exporters/chrome_trace.hpp"
#include "formats/exporters/perfetto_trace.hpp"
#include "formats/files/tar.hpp"
#include "formats/json/json_text.hpp"
#include "formats/version.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/core/at.hpp"
#include "tools/output/trace.hpp"

namespace debubble {
namespace {

using Curves = std::vector<std::vector<MemoryPoint>>;

std::string json_quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string member(std::string_view key, const std::string& value) { return json_quoted(key) + ": " + value; }

std::string number_json(double value) {
  std::string out;
  append_json_number(out, value);
  return out;
}

// Ratios as whole numbers, which manifests can hold: 27.27 % is 2727.
std::string basis_points(double ratio) {
  return std::to_string(std::isfinite(ratio) ? std::llround(ratio * 10000) : 0);
}

std::string merged_facts(const Diff& diff, const std::string& command_line) {
  const Comparison& comparison = diff.comparison;
  std::string facts = "{\n  " + member("tool", json_quoted("debubble diff"));
  const auto add = [&](std::string_view key, const std::string& value) { facts += ",\n  " + member(key, value); };
  add("version", json_quoted(kVersion));
  add("command_line", json_quoted(command_line));
  add("predicted", json_quoted(diff.predicted_name.empty() ? diff.measured_name : diff.predicted_name));
  add("measured", json_quoted(diff.measured_name));
  // Of the measured run, under the names that every trace of ours has.
  const Schedule& schedule = diff.measured.schedule;
  add("source", json_quoted(diff.measured_timeline().measured ? "measured" : "modelled"));
  add("schedule", json_quoted(schedule.name));
  add("devices", std::to_string(schedule.devices));
  add("stages", std::to_string(schedule.stages));
  add("microbatches", std::to_string(schedule.microbatches));
  add("makespan_ns", std::to_string(comparison.makespan.measured));
  add("bubble_ratio", number_json(comparison.bubble_ratio.measured));
  add("bubble_over_ideal", number_json(comparison.bubble_over_ideal.measured));
  add("predicted_makespan_ns", std::to_string(comparison.makespan.predicted));
  add("predicted_bubble_ratio", number_json(comparison.bubble_ratio.predicted));
  for (int i = 0; i < kGapCauses; ++i) {
    add(std::string("gap by ") + to_string(static_cast<GapCause>(i)) + " ns",
        std::to_string(at(comparison.gap_by_cause, i)));
  }
  const ClockAlignment& clocks = diff.measured.clocks;
  add("clocks", json_quoted(clocks.method));
  if (clocks.bounded) add("clock_residual_ns", std::to_string(clocks.residual));
  return facts + "}";
}

std::string trace_of(const RunRecord& record, std::size_t iteration, const Report& report) {
  const Timeline& timeline = record.iterations[iteration].timeline;
  TraceInfo info{"debubble", std::string(kVersion), record.origin.command_line};
  info.costs = &record.costs;
  info.p2p = record.p2p;
  info.hop_latency = record.hop_latency;
  info.hop_bandwidth = record.hop_bandwidth;
  info.samples_per_microbatch = record.samples_per_microbatch;
  info.tokens_per_sample = record.tokens_per_sample;
  add_origin(info, record, iteration);
  std::string text;
  write_chrome_trace(timeline, record.schedule, report, memory_curves(timeline, record.schedule, record.costs), info,
                     [&](std::string_view piece) { text += piece; });
  return text;
}

std::string manifest_file(const std::string& name, double ratio, Nanoseconds makespan) {
  return "{\"path\": " + json_quoted(name + ".json.gz") + ", \"machine\": {\"name\": " + json_quoted(name) +
         "}, \"attributes\": {\"makespan_ns\": " + std::to_string(makespan) +
         ", \"bubble_basis_points\": " + basis_points(ratio) + "}}";
}

}  // namespace

void write_merged_trace(const Diff& diff, const std::string& command_line, bool perfetto, const TextSink& sink) {
  const Curves predicted = memory_curves(diff.predicted_timeline(), diff.predicted.schedule, diff.predicted.costs);
  const Curves measured = memory_curves(diff.measured_timeline(), diff.measured.schedule, diff.measured.costs);
  const TracedRun one{&diff.predicted_timeline(), &diff.predicted.schedule, &predicted};
  const TracedRun other{&diff.measured_timeline(), &diff.measured.schedule, &measured};
  const std::string facts = merged_facts(diff, command_line);
  if (perfetto) {
    write_merged_perfetto_trace(one, other, facts, sink);
  } else {
    write_merged_trace(one, other, facts, sink);
  }
}

std::string trace_bundle(const Diff& diff, const std::string& command_line) {
  const Comparison& c = diff.comparison;
  std::string manifest =
      "{\"perfetto_manifest\": {\"version\": 1,\n \"attributes\": {\"command_line\": " + json_quoted(command_line) +
      "},\n \"files\": [\n  ";
  manifest += manifest_file("predicted", c.bubble_ratio.predicted, c.makespan.predicted) + ",\n  ";
  manifest += manifest_file("measured", c.bubble_ratio.measured, c.makespan.measured) + "]}}\n";
  Tar tar;
  tar.add("manifest.json", manifest);
  tar.add("predicted.json.gz", gzipped(trace_of(diff.predicted, diff.predicted_iteration, diff.predicted_report)));
  tar.add("measured.json.gz", gzipped(trace_of(diff.measured, diff.iteration, diff.measured_report())));
  return tar.finish();
}

}  // namespace debubble
