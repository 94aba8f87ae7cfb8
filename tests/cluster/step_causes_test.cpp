// Idle causes, critical path and step report of timelines with tasks of a training step, contention and stragglers,
// written by hand.
#include "sim/analysis/analyse.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

Gate span_gate(std::int32_t index) { return {Gate::Kind::kSpan, index}; }
Gate transfer_gate(std::int32_t index) { return {Gate::Kind::kTransfer, index}; }
Gate step_gate(std::int32_t index) { return {Gate::Kind::kStep, index}; }

Span span(OpKind kind, std::int32_t device, Nanoseconds begin, Nanoseconds end, Gate gate) {
  Span made;
  made.op.kind = kind;
  made.op.stage = device;
  made.device = device;
  made.ready = begin;
  made.begin = begin;
  made.end = end;
  made.gate = gate;
  return made;
}

StepSpan step(std::int32_t task, StepTask::Kind kind, std::int32_t device, Nanoseconds begin, Nanoseconds end,
              Gate gate) {
  StepSpan made;
  made.task = task;
  made.kind = kind;
  made.lane = kind == StepTask::Kind::kOptimizer ? StepTask::Lane::kCompute : StepTask::Lane::kCollective;
  made.what = to_string(kind);
  made.device = device;
  made.begin = begin;
  made.end = end;
  made.gate = gate;
  return made;
}

//     d0  F0 ->................. -> B0 |        |opt|      transfers 10..30 and 60..60
//     d1         (6 of others) F0 B0            |op|
//                              0B0 ends at 80; reduce of d1 60..75, of d0 80..90, norm 90..95 on both
Timeline two_devices(bool with_steps) {
  Timeline timeline;
  timeline.devices = 2;
  timeline.spans = {span(OpKind::kForward, 0, 0, 10, {}), span(OpKind::kBackward, 0, 60, 80, transfer_gate(1)),
                    span(OpKind::kForward, 1, 30, 40, transfer_gate(0)),
                    span(OpKind::kBackward, 1, 40, 60, span_gate(2))};
  timeline.set_straggled(2, 5);
  timeline.device_begin = {0, 2, 4};
  Transfer there;
  there.from_span = 0;
  there.to_span = 2;
  there.to_device = 1;
  there.begin = 10;
  there.end = 30;
  there.latency = 4;
  there.contention = 6;
  there.gate = span_gate(0);
  Transfer back;
  back.op = timeline.spans[3].op;
  back.from_span = 3;
  back.to_span = 1;
  back.from_device = 1;
  back.begin = 60;
  back.end = 60;
  back.gate = span_gate(3);
  timeline.transfers = {there, back};
  timeline.makespan = 80;
  if (!with_steps) return timeline;
  using Kind = StepTask::Kind;
  timeline.steps = {
      step(4, Kind::kOptimizer, 0, 95, 100, step_gate(2)),     step(0, Kind::kGradientReduce, 0, 80, 90, span_gate(1)),
      step(2, Kind::kGlobalNorm, 0, 90, 95, step_gate(1)),     step(3, Kind::kOptimizer, 1, 95, 98, step_gate(5)),
      step(1, Kind::kGradientReduce, 1, 60, 75, span_gate(3)), step(2, Kind::kGlobalNorm, 1, 90, 95, step_gate(1))};
  timeline.makespan = 100;
  return timeline;
}

Report analysed(const Timeline& timeline) {
  const Schedule schedule = build("1f1b", 2, 1);
  return analyse(timeline, schedule, toy_costs(schedule, 1, 2));
}

std::map<std::string, Nanoseconds> causes_of(const DeviceReport& device) {
  std::map<std::string, Nanoseconds> causes;
  for (int i = 0; i < kIdleCauses; ++i) {
    const Nanoseconds time = device.idle_by_cause[static_cast<std::size_t>(i)];
    if (time != 0) causes[to_string(static_cast<IdleCause>(i))] = time;
  }
  return causes;
}

using Causes = std::map<std::string, Nanoseconds>;

}  // namespace

TEST_CASE("causes: contention and a straggler are told from bandwidth and from compute") {
  const Report report = analysed(two_devices(false));
  CHECK(causes_of(report.devices[0]) == Causes{{"fill", 25},
                                               {"straggler", 5},
                                               {"transfer_latency", 4},
                                               {"transfer_contention", 6},
                                               {"transfer_bandwidth", 10}});
  CHECK(causes_of(report.devices[1]) == Causes{{"fill", 10},
                                               {"transfer_latency", 4},
                                               {"transfer_contention", 6},
                                               {"transfer_bandwidth", 10},
                                               {"drain", 20}});
  CHECK_FALSE(report.step.has_value());
}

TEST_CASE("causes: a wait that began within the extra time of a straggler is all its fault") {
  Timeline timeline = two_devices(false);
  timeline.set_straggled(3, 15);  // 1B0 runs 40..60
  timeline.set_slowed(3, 10);     // together longer than the span: no more than all of it
  const Report report = analysed(timeline);
  CHECK(causes_of(report.devices[0])["straggler"] == 20 + 5);
  CHECK(causes_of(report.devices[0])["fill"] == 5);
}

TEST_CASE("causes: what follows a device's last work is drain, but for stragglers and contention") {
  Timeline timeline = two_devices(false);
  timeline.set_straggled(1, 8);  // 0B0, for which device 1 only waits because the step lasts as long
  CHECK(causes_of(analysed(timeline).devices[1])["straggler"] == 8);
  CHECK(causes_of(analysed(timeline).devices[1])["drain"] == 12);
  // The gradient's transfer takes 10 longer, 3 of them because of others on its link.
  timeline.transfers[1].end = 70;
  timeline.transfers[1].contention = 3;
  timeline.spans[1].begin = 70;
  timeline.spans[1].end = 90;
  timeline.makespan = 90;
  CHECK(causes_of(analysed(timeline).devices[1])["straggler"] == 8);
  CHECK(causes_of(analysed(timeline).devices[1])["transfer_contention"] == 6 + 3);
  CHECK(causes_of(analysed(timeline).devices[1])["drain"] == 12 + 7);
}

TEST_CASE("causes: collectives of the step that nothing hides are collective, and the optimizer is work") {
  const Report report = analysed(two_devices(true));
  CHECK(report.devices[0].busy == 10 + 20 + 5);
  CHECK(report.devices[1].busy == 10 + 20 + 3);
  CHECK(causes_of(report.devices[0])["collective"] == 15);
  CHECK(causes_of(report.devices[1])["collective"] == 15);  // of device 0's gradients, and the norm
  CHECK(causes_of(report.devices[1])["drain"] == 20 + 2);   // 0B0, and the longer optimizer of device 0
  CHECK(report.span == 100);
  CHECK(report.ideal == (35 + 33) / 2);
  CHECK(report.bubble_ratio == doctest::Approx(1 - 68.0 / 200));
}

TEST_CASE("critical path: it goes on through the tasks of the step") {
  const Report report = analysed(two_devices(true));
  CHECK(report.critical_path.compute == 10 + 10 + 20 + 20 + 5);
  CHECK(report.critical_path.transfer == 20);
  CHECK(report.critical_path.collective == 10 + 5);
  CHECK(report.critical_path.wait == 0);
  CHECK(report.critical_path.hops == 2);
}

TEST_CASE("critical path: a task that waits for its counterpart in another replica waits") {
  Timeline timeline = two_devices(true);
  // The norm's counterpart comes 7 later: so do the optimizers.
  for (const std::size_t i : {2U, 5U}) {
    timeline.steps[i].waited_for_replica = 7;
    timeline.steps[i].begin += 7;
    timeline.steps[i].end += 7;
  }
  for (const std::size_t i : {0U, 3U}) {
    timeline.steps[i].begin += 7;
    timeline.steps[i].end += 7;
  }
  timeline.makespan += 7;
  const Report report = analysed(timeline);
  CHECK(report.critical_path.wait == 7);
  CHECK(causes_of(report.devices[0])["straggler"] == 5 + 7);
  CHECK(causes_of(report.devices[1])["straggler"] == 7);
  CHECK(causes_of(report.devices[0])["collective"] == 15);
  // The same where the optimizer itself waits.
  timeline.steps[0].waited_for_replica = 3;
  timeline.steps[0].begin += 3;
  timeline.steps[0].end += 3;
  timeline.makespan += 3;
  CHECK(causes_of(analysed(timeline).devices[0])["straggler"] == 5 + 7 + 3);
  CHECK(analysed(timeline).devices[0].idle == 10 + 65);
}

TEST_CASE("step report: by kind, of the device that spends most on it, hidden time apart") {
  Timeline timeline = two_devices(true);
  timeline.steps[4].begin = 50;  // hidden until 60, and longer than that of device 0
  timeline.steps[4].contention = 2;
  timeline.steps[4].bytes = 99;
  const Report report = analysed(timeline);
  REQUIRE(report.step.has_value());
  CHECK(report.step->pipeline_end == 80);
  REQUIRE(report.step->parts.size() == 3);
  const StepPart& reduce = report.step->parts[0];
  CHECK(reduce.kind == StepTask::Kind::kGradientReduce);
  CHECK(reduce.tasks == 2);
  CHECK(reduce.time == 25);
  CHECK(reduce.exposed == 15);
  CHECK(reduce.contention == 2);
  CHECK(reduce.bytes == 99);
  CHECK(report.step->parts[1].kind == StepTask::Kind::kGlobalNorm);
  CHECK(report.step->parts[1].tasks == 1);  // one task, on two devices
  CHECK(report.step->parts[2].kind == StepTask::Kind::kOptimizer);
  CHECK(report.step->parts[2].time == 5);
  CHECK(report.step->parts[2].exposed == 5);
}
