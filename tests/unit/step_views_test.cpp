// A run with a training step, a cluster and contention, in every form in which a report is shown.
#include <nlohmann/json.hpp>

#include "formats/exporters/chrome_trace.hpp"
#include "formats/exporters/report_csv.hpp"
#include "formats/exporters/report_json.hpp"
#include "schedules/catalog.hpp"
#include "sim/analysis/analyse.hpp"
#include "tests/support/test.hpp"
#include "tests/support/trace_promises.hpp"
#include "tests/unit/tools_support.hpp"
#include "tools/output/metrics.hpp"
#include "tools/views/gantt.hpp"
#include "tools/views/summary.hpp"

namespace debubble {
namespace {

using nlohmann::json;
using test::small_timeline;

constexpr Nanoseconds kMs = kNanosecondsPerMillisecond;

StepSpan step(std::int32_t task, StepTask::Kind kind, std::int32_t device, Nanoseconds begin, Nanoseconds end) {
  StepSpan made;
  made.task = task;
  made.kind = kind;
  made.lane = kind == StepTask::Kind::kOptimizer ? StepTask::Lane::kCompute : StepTask::Lane::kCollective;
  made.what = std::string(to_string(kind)) + " \"" + std::to_string(task) + "\"";
  made.device = device;
  made.begin = begin * kMs;
  made.end = end * kMs;
  made.bytes = 4096;
  return made;
}

// The small run; device 1 reduces from 6 ms on, beside its last backward, device 0 behind its own; then both optimize.
Timeline with_step() {
  Timeline timeline = small_timeline();
  using Kind = StepTask::Kind;
  timeline.steps = {step(0, Kind::kGradientReduce, 0, 9, 11), step(2, Kind::kOptimizer, 0, 11, 12),
                    step(1, Kind::kGradientReduce, 1, 6, 10), step(3, Kind::kOptimizer, 1, 10, 11)};
  timeline.steps[2].contention = kMs;
  timeline.steps[0].gate = {Gate::Kind::kSpan, 3};
  timeline.steps[1].gate = {Gate::Kind::kStep, 0};
  timeline.steps[2].gate = {Gate::Kind::kSpan, 7};
  timeline.steps[3].gate = {Gate::Kind::kStep, 2};
  timeline.makespan = 12 * kMs;
  return timeline;
}

Schedule small_schedule() {
  return build_schedule("1f1b", {.devices = 2, .microbatches = 2, .chunks = 0, .params = {}});
}

StageCosts small_costs() {
  StageCost cost;
  cost.forward = kMs;
  cost.backward = 2 * kMs;
  cost.forward_collective = kMs / 4;
  return {{cost, cost}, {}, {}};
}

Report small_report() {
  Report report = analyse(with_step(), small_schedule(), small_costs());
  report.mfu = 0.43;
  report.cluster = ClusterReport{"dgx-h100:2", "fluid", 16, 16, 4, 1, 1, 2, 0, 2, 11 * kMs, 12 * kMs};
  const PeakOp op{PeakOp::Kind::kOp, {OpKind::kForward, false, 1, 0}, {}};
  report.memory_fit = MemoryFit{1000, 1, 800, 900, -5, 3, op, {"recompute"}};
  return report;
}

TEST_CASE("step: the JSON report has its parts, the cluster, the memory and the MFU") {
  const json report = json::parse(report_json(small_report(), {"0", "debubble simulate"}));
  CHECK(report["mfu"] == 0.43);
  CHECK(report["inside_collectives_ns"] == 4 * kMs / 4);
  CHECK(report["cluster"]["topology"] == "dgx-h100:2");
  CHECK(report["cluster"]["ranks"] == 16);
  CHECK(report["cluster"]["slowest_replica_ns"] == 12 * kMs);
  CHECK(report["step"]["pipeline_end_ns"] == 9 * kMs);
  CHECK(report["step"]["parts"]["gradient_reduce"] ==
        json{{"tasks", 2}, {"time_ns", 4 * kMs}, {"exposed_ns", 3 * kMs}, {"contention_ns", kMs}, {"bytes", 4096}});
  CHECK(report["step"]["parts"]["optimizer"]["exposed_ns"] == kMs);
  CHECK(report["memory_fit"]["fits"] == false);
  CHECK(report["memory_fit"]["spare_bytes"] == -5);
  CHECK(report["memory_fit"]["remedies"] == json::array({"recompute"}));
  CHECK(report["devices"][0]["idle_by_cause_ns"]["collective"] == 2 * kMs);
  CHECK(report["devices"][0]["idle_by_cause_ns"].contains("transfer_contention"));
}

TEST_CASE("step: a run without one has none of its keys") {
  const Report plain = analyse(small_timeline(), small_schedule(), StageCosts{{{}, {}}, {}, {}});
  const json report = json::parse(report_json(plain, {"0", "debubble simulate"}));
  for (const char* key : {"step", "cluster", "memory_fit", "inside_collectives_ns"}) CHECK_FALSE(report.contains(key));
  CHECK(report["mfu"].is_null());
  for (const char* name : {"step.optimizer", "step.pipeline_end", "memory_fit.spare", "replicas.slowest", "mfu"}) {
    CAPTURE(name);
    REQUIRE(find_metric(name) != nullptr);
    CHECK_FALSE(is_known(*find_metric(name), plain));
  }
}

TEST_CASE("step: its numbers can be named, by name and by key") {
  const Report report = small_report();
  CHECK(format_metric(*find_metric("step.gradient_reduce"), report) == "4.000 ms");
  CHECK(format_metric(*find_metric("step.parts.gradient_reduce.exposed_ns"), report) == "3.000 ms");
  CHECK(format_metric(*find_metric("step.global_norm"), report) == "0 ns");
  CHECK(format_metric(*find_metric("mfu"), report) == "43.0 %");
  CHECK(format_metric(*find_metric("idle_by_cause.transfer_contention"), report) == "0 ns");
  CHECK(format_metric(*find_metric("replicas.slowest"), report) == "12.00 ms");
}

TEST_CASE("step: the summary says it in lines of 80 columns") {
  std::string text = summary(small_report(), {});
  CHECK(test::widest_line(text) <= 80);
  std::replace(text.begin(), text.end(), '\n', ' ');
  const auto both_blank = [](char a, char b) { return a == ' ' && b == ' '; };
  text.erase(std::unique(text.begin(), text.end(), both_blank), text.end());
  CHECK(contains(text, "gradient reduce 4.000 ms (3.000 ms of it exposed, 1.000 ms contention)"));
  CHECK(contains(text, "dgx-h100:2 (fluid), 16 of 16 GPUs: tp 4, dp 2, pp 2"));
  CHECK(contains(text, "43.0 %"));
}

TEST_CASE("step: the chart shows the optimizer, and collectives that nothing hides") {
  const std::string chart = gantt(with_step(), {});
  CHECK(contains(chart, "d0 F0F1....B0--..B1--====O"));
  CHECK(contains(chart, "d1 ..F0B0--F1B1--======O"));
  CHECK(contains(chart, "O optimizer"));
  CHECK(contains(chart, "= collective that nothing hides"));
  // Too narrow for whole columns: in proportion to time.
  const std::string narrow = gantt(with_step(), {.width = 40, .color = false});
  CHECK(narrow.find('O') != std::string::npos);
  CHECK(narrow.find('=') != std::string::npos);
}

TEST_CASE("step: a Chrome trace has a lane for collectives and keeps the readers' rules") {
  Timeline timeline = with_step();
  Transfer transfer;
  transfer.from_span = 0;
  transfer.to_span = 4;
  transfer.to_device = 1;
  transfer.begin = kMs;
  transfer.end = 2 * kMs - 1;
  transfer.contention = 500;
  timeline.transfers = {transfer};
  timeline.set_straggled(4, 300);
  std::string text;
  write_chrome_trace(timeline, small_schedule(), small_report(), {}, {"debubble", "0", "debubble simulate"},
                     [&](std::string_view part) { text += part; });
  for (const std::string& problem : testing::broken_promises(text)) FAIL_CHECK(problem);
  const json events = json::parse(text)["traceEvents"];
  int reduces = 0;
  int contended = 0;
  int optimizers = 0;
  bool lane = false;
  for (const json& event : events) {
    const json args = event.value("args", json::object());
    lane = lane || args.value("name", "") == "collective";
    reduces += event["name"] == "gradient_reduce \"1\"" && args["contention_us"] == 1000.0 ? 1 : 0;
    optimizers += event.value("cat", "") == "step" && event["tid"] == 1 && args["kind"] == "optimizer" ? 1 : 0;
    contended += event.value("cat", "") == "transfer" && args.contains("contention_us") ? 1 : 0;
  }
  CHECK(lane);
  CHECK(reduces == 1);
  CHECK(optimizers == 1);
  CHECK(contended == 2);  // the sender's slice and the receiver's
}

}  // namespace
}  // namespace debubble
