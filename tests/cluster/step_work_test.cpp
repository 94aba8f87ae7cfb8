// What a training step does beside its ops, in runs small enough to add up by hand.
//
//     device 0   F0 F1          B0 B1      a forward takes 100, a backward 200: stage 1's last backward ends at 700,
//     device 1      F0 F1 B0 B1            stage 0's at 900
#include "sim/engine/cluster.hpp"
#include "tests/support/cluster_promises.hpp"
#include "tests/support/hand_built_cluster.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

struct Pipeline {
  Schedule schedule = build("gpipe", 2, 2);
  Program program = std::get<Program>(lower(schedule));
  StageCosts costs;
  Topology topology = Topology::ideal(0, 0);
  StepWork step;
  Variation variation;
  int replicas = 1;

  Pipeline() {
    StageCost stage;
    stage.forward = 100;
    stage.backward = 200;
    costs.stages.assign(2, stage);
  }
  StepTask& add(std::vector<std::int32_t> devices, Nanoseconds duration) {
    StepTask task;
    task.devices = std::move(devices);
    task.duration = duration;
    step.tasks.push_back(task);
    return step.tasks.back();
  }
  [[nodiscard]] std::vector<Timeline> run() const {
    auto timelines = simulate_cluster(program, schedule, costs, topology, {&step, &variation, replicas});
    for (const Timeline& timeline : timelines) REQUIRE_EQ(broken_timeline(timeline), "");
    return timelines;
  }
};

// "0: 700-850 850-880; 1: ..." by device.
std::string step_work_times_of(const Timeline& timeline) {
  std::string text;
  std::int32_t device = -1;
  for (const StepSpan& step : timeline.steps) {
    if (step.device != device) text += (text.empty() ? "" : "; ") + std::to_string(step.device) + ":";
    device = step.device;
    text += " " + std::to_string(step.begin) + "-" + std::to_string(step.end);
  }
  return text;
}

const Span& span_of(const Timeline& timeline, std::size_t device, std::size_t index) {
  return timeline.spans[static_cast<std::size_t>(timeline.device_begin[device]) + index];
}

}  // namespace

TEST_CASE("gradients are reduced when a stage's last backward has ended, then the optimizer runs") {
  Pipeline p;
  p.add({0}, 50).after_stages = {{0, 0}};
  p.add({1}, 150).after_stages = {{0, 1}};
  for (std::int32_t device : {0, 1}) {
    StepTask& adam = p.add({device}, 30);
    adam.kind = StepTask::Kind::kOptimizer;
    adam.lane = StepTask::Lane::kCompute;
    adam.after = {device};
  }
  const Timeline timeline = p.run().front();
  CHECK_EQ(step_work_times_of(timeline), "0: 950-980 900-950; 1: 850-880 700-850");  // the compute lane first
  CHECK_EQ(timeline.makespan, 980);
  CHECK_EQ(timeline.steps[1].gate.kind, Gate::Kind::kSpan);
  CHECK_EQ(timeline.steps[0].gate.kind, Gate::Kind::kStep);
  const ClusterTotals totals =
      simulate_cluster_totals(p.program, p.schedule, p.costs, p.topology, {&p.step, &p.variation, 1});
  CHECK_EQ(totals.makespan, 980);
  CHECK_EQ(totals.replicas[0].devices[0].busy, 600 + 30);
  CHECK_EQ(totals.replicas[0].devices[1].last_end, 880);
}

TEST_CASE("compute beside a collective takes longer while it lasts") {
  Pipeline p;
  StepTask& reduce = p.add({0}, 100);
  reduce.after_stages = {{0, 1}};
  reduce.slow_down = 0.5;
  const Timeline timeline = p.run().front();
  // 700 to 800 does the work of 66.7 ns, then 133.3 are left.
  CHECK_EQ(span_of(timeline, 0, 3).begin, 700);
  CHECK_EQ(span_of(timeline, 0, 3).end, 934);
  CHECK_EQ(timeline.slowed(span_of(timeline, 0, 3)), 34);
  CHECK_EQ(timeline.slowed(span_of(timeline, 0, 2)), 0);
  CHECK_EQ(step_work_times_of(timeline), "0: 700-800");
}

TEST_CASE("a collective across replicas waits for the slowest of them") {
  Pipeline p;
  p.replicas = 2;
  p.variation.pipeline_replica = {1, 1.5};
  StepTask& reduce = p.add({0}, 10);
  reduce.after_stages = {{0, 0}};
  reduce.across_replicas = true;
  const auto timelines = p.run();
  for (const Timeline& timeline : timelines) CHECK_EQ(step_work_times_of(timeline), "0: 1350-1360");
  CHECK_EQ(timelines[0].steps[0].waited_for_replica, 450);
  CHECK_EQ(timelines[1].steps[0].waited_for_replica, 0);
  CHECK_EQ(timelines[1].steps[0].gate.kind, Gate::Kind::kSpan);
  CHECK_EQ(timelines[1].straggled(span_of(timelines[1], 0, 0)), 50);
  CHECK_EQ(timelines[0].straggled(span_of(timelines[0], 0, 0)), 0);
}

TEST_CASE("a task in each replica waits for nobody else") {
  Pipeline p;
  p.replicas = 2;
  p.variation.pipeline_replica = {1, 1.5};
  p.add({0}, 10).after_stages = {{0, 0}};
  const auto timelines = p.run();
  CHECK_EQ(step_work_times_of(timelines[0]), "0: 900-910");
  CHECK_EQ(step_work_times_of(timelines[1]), "0: 1350-1360");
}

TEST_CASE("the first forward of a stage waits for its parameters") {
  Pipeline p;
  p.add({0}, 40).before_stages = {{0, 0}};
  p.add({1}, 300).before_stages = {{0, 1}};
  const Timeline timeline = p.run().front();
  CHECK_EQ(span_of(timeline, 0, 0).begin, 40);
  CHECK_EQ(span_of(timeline, 0, 0).gate.kind, Gate::Kind::kStep);
  CHECK_EQ(span_of(timeline, 0, 0).ready, 40);
  CHECK_EQ(span_of(timeline, 1, 0).begin, 300);
  CHECK_EQ(timeline.makespan, 300 + 200 + 400 + 200);
}

TEST_CASE("a task on the compute lane runs where no op does, and ops go first") {
  Pipeline p;
  for (const std::int32_t device : {0, 1}) p.add({device}, 150).lane = StepTask::Lane::kCompute;
  const Timeline timeline = p.run().front();
  // Device 0 has ops at once; device 1 has none before 100, so its task keeps the first back.
  CHECK_EQ(step_work_times_of(timeline), "0: 200-350; 1: 0-150");
  CHECK_EQ(span_of(timeline, 1, 0).begin, 150);
  CHECK_EQ(span_of(timeline, 1, 0).ready, 100);
  CHECK_EQ(span_of(timeline, 1, 0).gate.kind, Gate::Kind::kStep);
  CHECK_EQ(timeline.makespan, 950);
}

TEST_CASE("a task takes the lanes of all its devices at once, and lanes serve whoever has waited longest") {
  Pipeline p;
  p.add({0, 1}, 100);
  p.add({0}, 20);
  p.add({1}, 30);
  CHECK_EQ(step_work_times_of(p.run().front()), "0: 0-100 100-120; 1: 0-100 100-130");
}

TEST_CASE("a collective and a transfer share the link on which they meet") {
  Pipeline p;
  p.topology = lay(line_of(2, 1'000'000'000, 0), 2);  // a byte per nanosecond
  p.costs.stages[0].output = 100;
  StepTask& task = p.add({0}, 160);
  Flow flow;
  flow.path.links = {{0, 1}};
  flow.bytes = 160;
  task.phases = {{flow}};
  const Timeline timeline = p.run().front();
  // From 100 on both get half: the collective's last 60 bytes are there at 220, the transfer's last 40 at 260. The
  // second transfer begins at 200: three share until then.
  REQUIRE_EQ(timeline.steps.size(), 1);
  CHECK_EQ(timeline.steps[0].end, 230);
  CHECK_EQ(timeline.steps[0].contention, 70);
  CHECK_EQ(timeline.transfers[0].begin, 100);
  // 50 bytes by 200, 10 more by 230, 40 at half the link.
  CHECK_EQ(timeline.transfers[0].end, 310);
  CHECK_EQ(timeline.transfers[0].contention, 110);
  CHECK_EQ(timeline.transfers[1].end, 360);
}

TEST_CASE("steps run in blocking and coupled pipelines, where transfers hold lanes") {
  for (const P2p p2p : {P2p::kBlocking, P2p::kCoupled}) {
    Pipeline p;
    p.topology = lay(line_of(2, 1'000'000'000, 5), 2);
    for (StageCost& stage : p.costs.stages) stage.output = 40;
    p.program = std::get<Program>(lower(p.schedule, p2p));
    StepTask& task = p.add({0}, 25);
    task.lane = StepTask::Lane::kCompute;
    task.after_stages = {{0, 1}};
    StepTask& reduce = p.add({1}, 60);
    reduce.slow_down = 1;
    const Timeline timeline = p.run().front();
    CHECK_EQ(timeline.steps.size(), 2);
    CHECK(timeline.transfers_hold_lanes);
  }
}

TEST_CASE("steps that wait for ops which wait for them are refused, never lost") {
  Pipeline p;
  StepTask& task = p.add({0}, 25);
  task.after_stages = {{0, 1}};
  task.before_stages = {{0, 0}};
  CHECK_THROWS_AS(static_cast<void>(p.run()), std::logic_error);
}

TEST_CASE("tasks on compute lanes vary like ops, by device, replica and jitter, and collectives do not") {
  Pipeline p;
  p.replicas = 2;
  p.variation.device = {1, 1.5};
  p.variation.pipeline_replica = {1, 2};
  p.variation.stage = {3, 3};  // of ops only
  for (std::int32_t device : {0, 1}) {
    StepTask& reduce = p.add({device}, 50);
    reduce.after_stages = {{0, device}};
    StepTask& adam = p.add({device}, 100);
    adam.kind = StepTask::Kind::kOptimizer;
    adam.lane = StepTask::Lane::kCompute;
    adam.after = {static_cast<std::int32_t>(p.step.tasks.size()) - 2};
  }
  const std::vector<Timeline> both = p.run();
  const auto length = [&](std::size_t replica, std::int32_t device, StepTask::Lane lane) {
    for (const StepSpan& step : both[replica].steps) {
      if (step.device == device && step.lane == lane) return std::pair(step.end - step.begin, step.straggled);
    }
    return std::pair<Nanoseconds, Nanoseconds>(-1, -1);
  };
  using Times = std::pair<Nanoseconds, Nanoseconds>;
  CHECK_EQ(length(0, 0, StepTask::Lane::kCompute), Times(100, 0));
  CHECK_EQ(length(0, 1, StepTask::Lane::kCompute), Times(150, 50));
  CHECK_EQ(length(1, 0, StepTask::Lane::kCompute), Times(200, 100));
  CHECK_EQ(length(1, 1, StepTask::Lane::kCompute), Times(300, 200));
  for (const std::size_t replica : {0U, 1U}) {
    for (std::int32_t device : {0, 1}) CHECK_EQ(length(replica, device, StepTask::Lane::kCollective), Times(50, 0));
  }
  // A task of all replicas takes what the slowest needs.
  CHECK_EQ(p.variation.task_factor(p.step.tasks[1], 0, 2), 2);
  CHECK_EQ(p.variation.task_factor(p.step.tasks[3], 0, 2), 3);
  CHECK_EQ(p.variation.task_factor(p.step.tasks[2], 0, 2), 1);
}

TEST_CASE("a task's jitter is drawn by seed, replica, kind and device, and by nothing else") {
  Variation variation;
  variation.jitter = 0.2;
  StepTask adam;
  adam.kind = StepTask::Kind::kOptimizer;
  adam.lane = StepTask::Lane::kCompute;
  adam.devices = {1};
  adam.duration = 7;
  StepTask same = adam;
  same.duration = 9;
  same.after = {0};
  const double factor = variation.task_factor(adam, 0, 1);
  CHECK_NE(factor, 1);
  CHECK_EQ(variation.task_factor(same, 0, 1), factor);
  StepTask norm = adam;
  norm.kind = StepTask::Kind::kGlobalNorm;
  StepTask other = adam;
  other.devices = {2};
  Variation next = variation;
  next.seed = 2;
  for (const double different :
       {variation.task_factor(norm, 0, 1), variation.task_factor(other, 0, 1), variation.task_factor(adam, 1, 1),
        next.task_factor(adam, 0, 1), variation.factor(0, 1, {OpKind::kForward, false, 1, 0})}) {
    CHECK_NE(different, factor);
  }
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 20'000;
  for (std::int32_t replica = 0; replica < kDraws; ++replica) {
    const double log = std::log(variation.task_factor(adam, replica, 1));
    sum += log;
    squares += log * log;
  }
  CHECK_LT(std::abs(sum / kDraws), 4 * 0.2 / std::sqrt(kDraws));
  CHECK_EQ(std::sqrt(squares / kDraws), doctest::Approx(0.2).epsilon(0.02));
}
