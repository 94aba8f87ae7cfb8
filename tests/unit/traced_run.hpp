// Runs to be written as Chrome traces, for the tests of what is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/exporters/chrome_trace.hpp"
#include "schedules/catalog.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/engine/simulate.hpp"
#include "tests/support/trace_promises.hpp"

namespace debubble {

struct Run {
  Schedule schedule;
  Timeline timeline;
  Report report;
  std::vector<std::vector<MemoryPoint>> memory;
};

// One microbatch down and up two devices, with a transfer each way.
inline Run small_run() {
  Run run;
  run.schedule = build_schedule("1f1b", {.devices = 2, .microbatches = 1, .chunks = 0, .params = {}});
  const Op f0{OpKind::kForward, false, 0, 0};
  const Op b0{OpKind::kBackward, false, 0, 0};
  const Op f1{OpKind::kForward, false, 1, 0};
  const Op b1{OpKind::kBackward, false, 1, 0};
  const auto transfer = Gate::Kind::kTransfer;
  const auto span = Gate::Kind::kSpan;
  Timeline& t = run.timeline;
  t.devices = 2;
  t.makespan = 7500;
  t.spans = {{f0, 0, 0, 0, 1001, {}},
             {b0, 0, 5500, 5500, 7500, {transfer, 1}},
             {f1, 1, 1500, 1500, 2500, {transfer, 0}},
             {b1, 1, 2500, 2500, 4500, {span, 2}}};
  t.device_begin = {0, 2, 4};
  t.transfers = {{f0, 0, 2, 0, 1, 1001, 1500, 400, 0, 4096, {span, 0}},
                 {b1, 3, 1, 1, 0, 4500, 5500, 0, 0, 4096, {span, 3}}};
  run.report.assumptions = {{"forward time", "1 us", Source::kGiven}};
  run.report.bubble_ratio = 0.6;
  return run;
}

// Throws std::bad_variant_access when the schedule deadlocks with this kind of transfers.
inline Run simulated(const std::string& name, int devices, int microbatches, P2p p2p, Nanoseconds latency) {
  Run run;
  run.schedule = build_schedule(name, {.devices = devices, .microbatches = microbatches, .chunks = 0, .params = {}});
  StageCost cost;
  cost.forward = 1003;
  cost.backward = 2006;
  cost.input_grad = cost.weight_grad = 1003;
  cost.activation = 3 * kMebibyte;
  cost.weight_grad_held = kMebibyte;
  cost.output = 12345;
  cost.weights = 7 * kMebibyte;
  const StageCosts costs{std::vector<StageCost>(static_cast<std::size_t>(run.schedule.stages), cost), std::nullopt,
                         std::nullopt};
  const auto lowered = lower(run.schedule, p2p);
  run.timeline = simulate(std::get<Program>(lowered), run.schedule, costs, Topology::ideal(latency, 100'000'000'000));
  run.report = analyse(run.timeline, run.schedule, costs);
  run.memory = memory_curves(run.timeline, run.schedule, costs);
  return run;
}

inline std::string trace_of(const Run& run, const std::string& command_line = "debubble simulate", bool causes = true) {
  std::string text;
  TraceInfo info{"debubble", "0.1.0", command_line};
  info.causes = causes;
  write_chrome_trace(run.timeline, run.schedule, run.report, run.memory, info,
                     [&](std::string_view piece) { text += piece; });
  return text;
}

// The events' lines, without the facts before them.
inline std::vector<std::string> event_lines(const std::string& trace) {
  std::vector<std::string> lines;
  std::size_t at = trace.find("\"traceEvents\":[\n") + 16;
  while (trace[at] == '{') {
    const std::size_t end = trace.find('\n', at);
    lines.push_back(trace.substr(at, end - at - (trace[end - 1] == ',' ? 1 : 0)));
    at = end + 1;
  }
  return lines;
}

inline std::string problems_of(const std::string& trace) {
  std::string all;
  for (const std::string& problem : testing::broken_promises(trace)) all += problem + "\n";
  return all;
}

}  // namespace debubble
