// Whole runs on the fake GPU: legal timelines, and what the simulator predicts from the calibrated costs.
#include "schedules/catalog.hpp"
#include "sim/analysis/analyse.hpp"
#include "tests/live/cuda/small_run.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

using Key = std::tuple<OpKind, int, int>;

// Every op begins behind what it needs; "" or the first that does not. Independent of plan and executor.
std::string illegal(const Timeline& timeline, const Schedule& schedule) {
  std::map<Key, const Span*> spans;
  for (const Span& span : timeline.spans) {
    spans[{span.op.kind, span.op.stage, span.op.microbatch}] = &span;
    if (const Op* partner = timeline.partner(span)) {
      spans[{partner->kind, partner->stage, partner->microbatch}] = &span;
    }
  }
  const auto find = [&spans](OpKind kind, int stage, int piece) -> const Span* {
    const auto found = spans.find({kind, stage, piece});
    return found == spans.end() ? nullptr : found->second;
  };
  const auto gradient = [&](int stage, int piece) {
    const Span* const whole = find(OpKind::kBackward, stage, piece);
    return whole == nullptr ? find(OpKind::kInputGrad, stage, piece) : whole;
  };
  std::size_t ops = 0;
  for (const auto& [key, span] : spans) {
    const auto [kind, stage, piece] = key;
    std::vector<const Span*> before;
    if (kind == OpKind::kForward && stage > 0) before.push_back(find(OpKind::kForward, stage - 1, piece));
    if (kind == OpKind::kBackward || kind == OpKind::kInputGrad) {
      before.push_back(find(OpKind::kForward, stage, piece));
      if (stage + 1 < schedule.stages) before.push_back(gradient(stage + 1, piece));
    }
    if (kind == OpKind::kWeightGrad) before.push_back(find(OpKind::kInputGrad, stage, piece));
    for (const Span* const one : before) {
      if (one == nullptr || one->end > span->begin) return to_string(span->op) + " begins too early";
    }
    ++ops;
  }
  return ops == schedule.total_ops() ? "" : "not every op ran once";
}

struct Case {
  const char* schedule;
  int devices;
  int microbatches;
};
const std::vector<Case> kCases{
    {"gpipe", 4, 8}, {"1f1b", 4, 8}, {"interleaved", 2, 4}, {"chimera", 4, 4}, {"zb-h1", 4, 6}};

}  // namespace

TEST_CASE("schedules on parts of a GPU take the time that the simulator predicts from the calibrated costs") {
  const FakeMachine machine(kH200);
  for (const Case& each : kCases) {
    for (const bool graph : {false, true}) {
      CAPTURE(each.schedule);
      CAPTURE(graph);
      const Schedule schedule = build(each.schedule, each.devices, each.microbatches);
      const live::LiveResult result = run_small(small_run(schedule, graph));
      REQUIRE_FALSE(result.stall.has_value());
      REQUIRE_EQ(result.iterations.size(), 2);
      const EngineRun predicted =
          run_engine(schedule, result.costs, {result.hop_latency, result.hop_bandwidth}, P2p::kOverlapped);
      for (const RunIteration& iteration : result.iterations) {
        CHECK_EQ(illegal(iteration.timeline, schedule), "");
        CHECK(iteration.timeline.measured);
        const Report measured = analyse(iteration.timeline, schedule, result.costs);
        // Between two ops the fake GPU loses under 5 us, of ops that take milliseconds.
        CHECK(std::abs(measured.bubble_ratio - predicted.report.bubble_ratio) < 0.002);
        CHECK(std::abs(static_cast<double>(measured.makespan) / static_cast<double>(predicted.report.makespan) - 1) <
              0.002);
        for (std::size_t d = 0; d < measured.devices.size(); ++d) {
          CHECK_EQ(iteration.peak_activation[d], predicted.report.devices[d].peak_activation);
          CHECK(iteration.peak_memory[d] >= predicted.report.devices[d].peak_activation);
        }
      }
    }
  }
  CHECK_EQ(FakeMachine::live_objects(), 0);
  CHECK_EQ(FakeMachine::live_bytes(), 0);
}

TEST_CASE("every catalog row runs on parts of a GPU with real numbers, and all tensors are right") {
  const FakeMachine machine("processors=132");
  const Schedule schedule = build("1f1b", 2, 2);
  SmallRun run = small_run(schedule);
  run.request.repetitions = 1;
  run.options.size.type = DataType::kFp32;
  const live::LiveResult result = run_small(run);
  REQUIRE_FALSE(result.stall.has_value());
  CHECK(result.tensors_checked > 0);
  CHECK_EQ(result.tensors_checked % 4, 0);  // two activations, two gradients in each iteration
}

TEST_CASE("every catalog row runs on parts of a GPU") {
  const FakeMachine machine(kH200);
  for (const ScheduleEntry& entry : schedule_catalog()) {
    CAPTURE(entry.name);
    const Schedule schedule = build(entry.name, 4, 8);
    SmallRun run = small_run(schedule, true);
    run.request.repetitions = 1;
    if (!schedule.copies.empty() || schedule.pairs_run_side_by_side) {  // no executor does that yet
      CHECK_THROWS_WITH_AS(run_small(run), doctest::Contains("E040"), InputError);
      continue;
    }
    const live::LiveResult result = run_small(run);
    REQUIRE_FALSE(result.stall.has_value());
    CHECK_EQ(illegal(result.iterations.front().timeline, schedule), "");
  }
  CHECK_EQ(FakeMachine::live_objects(), 0);
}

TEST_CASE("a run says what it ran on, what it measured and what it chose") {
  const FakeMachine machine(kH200);
  const live::LiveResult result = run_small(small_run(build("1f1b", 4, 4)));
  CHECK_EQ(result.origin.backend, "cuda");
  CHECK_EQ(result.origin.clock, "gpu");
  CHECK_EQ(result.origin.device, "Fake GPU");
  CHECK_EQ(result.clocks.method, "one clock");
  const auto has_note = [&result](const std::string& text) {
    return std::any_of(result.origin.notes.begin(), result.origin.notes.end(),
                       [&text](const std::string& note) { return contains(note, text); });
  };
  CHECK(has_note("one split of 132 processors: 32, 32, 32, 32"));
  CHECK(has_note("transfers run on the 4 processors that were left over"));
  const auto value_of = [&result](const std::string& what) {
    for (const Assumption& each : result.assumptions) {
      if (each.key == what) return each.amount;
    }
    return std::string("missing");
  };
  CHECK_EQ(value_of("step of the GPU's clock"), "32 ns");
  CHECK(value_of("all at work over alone").starts_with("stage 0: F 1.000 I 1.000 W 1.000 B 1.000; stage 1:"));
}

TEST_CASE("streams that share hardware queues are told, others not") {
  const FakeMachine machine("idle,processors=132,least_part=1");
  const auto told = [](int devices) {
    const live::LiveResult result = run_small(small_run(build("interleaved", devices, devices)));
    return std::any_of(result.origin.notes.begin(), result.origin.notes.end(),
                       [](const std::string& note) { return contains(note, "hardware queues of a GPU"); });
  };
  CHECK_FALSE(told(2));
  CHECK(told(16));
}

TEST_CASE("a run of more launches than a stream holds back opens the gate early, and says so") {
  const FakeMachine machine(kH200);
  const auto says = [](const SmallRun& run) {
    const live::LiveResult result = run_small(run);
    REQUIRE_FALSE(result.stall.has_value());
    return contains(result.origin.notes.back(), "so the gate opened before all was launched");
  };
  CHECK_FALSE(says(small_run(build("1f1b", 2, 4))));
  CHECK(says(small_run(build("1f1b", 2, 32))));
  CHECK_FALSE(says(small_run(build("1f1b", 2, 32), true)));  // a graph has no gate
}

TEST_CASE("stages of many layers do not fill a stream behind the gate, neither in runs nor in the calibration") {
  const FakeMachine machine(kH200);
  // One calibration sequence of 12 blocks is 984 launches, one backward 336: a stream takes 1024 things in all.
  SmallRun run = small_run(build("gpipe", 2, 2));
  run.options.shape = gpt_with(24);
  run.options.partition = {13, 13};
  const live::LiveResult result = run_small(run);
  CHECK_FALSE(result.stall.has_value());
  CHECK_EQ(result.iterations.size(), 2);
  const auto& notes = result.origin.notes;
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return contains(note, "blocks of the calibration began before all was launched");
  }));
}

TEST_CASE("kernels that are loaded at their first launch are loaded before any gate closes or capture begins") {
  const FakeMachine machine("idle,processors=132,lazy");
  for (const bool graph : {false, true}) {
    SmallRun run = small_run(build("zb-h1", 2, 4), graph);
    run.request.faults.push_back(live::parse_fault("slow=1:1.5", run.request.schedule));  // one more kernel, later
    const live::LiveResult result = run_small(run);
    CHECK_FALSE(result.stall.has_value());
    CHECK_EQ(result.iterations.size(), 2);
  }
}
