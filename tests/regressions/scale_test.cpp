// Large runs: waits that reach far back against single steps, and runs that the machine has no memory for.
#include <random>

#include "cost_models/uniform.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/analysis/gate_chains.hpp"
#include "sim/analysis/idle.hpp"
#include "sim/engine/simulate.hpp"
#include "studies/simulate/room.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

namespace debubble::testing {
namespace {

Timeline long_pipeline() {
  const Schedule schedule = build("1f1b", 150, 6);
  const Program program = std::get<Program>(lower(schedule));
  return simulate(program, schedule, uniform_costs({}, schedule.stages, 1), Topology::ideal(12'345, 0));
}

ChainParts step_by_step(const TimelineChains& run, Gate gate, Nanoseconds from, Nanoseconds at) {
  OpenGap gap(from, at);
  while (gap.open() && gate.kind != Gate::Kind::kStart) gate = run.pass(gate, gap);
  gap.take(ChainPart::kLaunchGap, from);
  return gap.parts();
}

// Of every span, from where its device was free, from 0, and from some time in between.
int compare_waits(const Timeline& timeline, std::uint32_t seed) {
  std::mt19937 random(seed);
  const TimelineChains run(timeline);
  GateChains<TimelineChains> chains(run);
  int far = 0;
  for (const Span& span : timeline.spans) {
    const Nanoseconds begin = std::max<Nanoseconds>(span.begin, 1);
    for (const Nanoseconds from : {Nanoseconds{0}, static_cast<Nanoseconds>(random()) % begin, begin / 2}) {
      const bool same = chains.explain(span.gate, from, span.begin) == step_by_step(run, span.gate, from, span.begin);
      REQUIRE(same);
      if (span.begin - from > 64 * testing::kUnit) ++far;
    }
  }
  return far;
}

TEST_CASE("waits that reach far back are split as by single steps") { CHECK(compare_waits(long_pipeline(), 1) > 500); }

TEST_CASE("and so they are where things begin late, early or before what they waited for has ended") {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    Timeline timeline = long_pipeline();
    for (Span& span : timeline.spans) {
      timeline.set_straggled(timeline.index_of(span), random() % 3 == 0 ? 100'000 : 0);
      if (random() % (5 * seed) == 0) span.begin += 200'000;
      if (random() % (9 * seed) == 0) span.begin -= 300'000;
    }
    for (Transfer& transfer : timeline.transfers) {
      if (random() % (7 * seed) == 0) transfer.begin += 1'000;
      if (random() % (7 * seed) == 0) transfer.end += 2'000;
      transfer.contention = static_cast<Nanoseconds>(random() % 5'000);
    }
    CHECK(compare_waits(timeline, seed) > 500);
  }
}

TEST_CASE("a run that the machine has no memory for is refused before it is tried") {
  CHECK(memory_left() > 0);
  CHECK_NOTHROW(require_room(1'000'000, std::numeric_limits<std::size_t>::max() / 2'000'000, ""));
  CHECK_NOTHROW(require_room(2'000'000, 1, ""));
  const Diagnostic problem = first_problem([&] { require_room(2'000'000, 1'000'000'000, "use fewer microbatches"); });
  CHECK(problem.code == "X005");
  CHECK(problem.message.starts_with("2000000 ops take about 1819 TiB of memory"));
  CHECK(problem.help == "use fewer microbatches");
}

}  // namespace
}  // namespace debubble::testing
