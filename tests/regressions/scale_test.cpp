// Large runs: waits that reach far back, and reports without spans, against the plain ways to the same numbers.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cost_models/uniform.hpp"
#include "formats/exporters/perfetto_trace.hpp"
#include "formats/exporters/report_json.hpp"
#include "scenario/job/job.hpp"
#include "schedules/catalog.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/analysis/gate_chains.hpp"
#include "sim/analysis/idle.hpp"
#include "sim/analysis/recurring_memory.hpp"
#include "sim/core/error.hpp"
#include "sim/engine/simulate.hpp"
#include "studies/simulate/brief_report.hpp"
#include "studies/simulate/memory_verdict.hpp"
#include "studies/simulate/room.hpp"
#include "studies/simulate/streamed_trace.hpp"
#include "tests/support/toy.hpp"

namespace debubble::testing {
namespace {

constexpr int kIterations = 8;

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

// What simulate() says of it with every span.
Report full_report(const Job& job) {
  const auto program = std::get<Program>(lower(job.schedule));
  const Timeline timeline = simulate(program, job.schedule, job.costs, job.topology);
  Report report = analyse(timeline, job.schedule, job.costs);
  report.steady_period = steady_period(program, job.costs, job.topology, kIterations);
  report.memory_fit = judge_memory(job, timeline);
  return report;
}

// Different on every stage; tensors that travel have sizes, so that they count in memory and take time on the links.
void set_costs(Job& job, std::uint32_t seed) {
  std::mt19937 random(seed);
  job.costs = split_costs(job.schedule, 1, 1, 1);
  job.costs.stages.front().workspace = 12'345;
  job.costs.stages.back().weights = 1'000'000;
  job.topology = Topology::ideal(std::array{0, 123'457, 3'000'000}.at(seed % 3), 0);
  if (seed < 3) return;
  for (StageCost& stage : job.costs.stages) {
    stage.forward += static_cast<Nanoseconds>(random() % 1'000);
    stage.backward += static_cast<Nanoseconds>(random() % 1'000);
    stage.output = static_cast<Bytes>(random() % 3) * 500'000;
    stage.activation_tensors = static_cast<std::int32_t>(random() % 4);
    stage.forward_collective = 17;
    stage.backward_collective = 31;
  }
  job.topology = Topology::ideal(seed % 2 == 0 ? 0 : 123'457, 1'000'000'000 * static_cast<std::int64_t>(1 + seed % 5));
  job.memory.allocator =
      std::array{AllocatorKind::kCaching, AllocatorKind::kExact, AllocatorKind::kExpandable}.at(seed % 3);
  job.memory.capacities = {seed % 2 == 0 ? Bytes{80'000'000'000} : Bytes{30'000'000}};
}

// Nothing where the schedule does not take the size.
std::optional<Schedule> schedule_of(const std::string& name, int devices, int microbatches) {
  ScheduleRequest request;
  request.devices = devices;
  request.microbatches = microbatches;
  try {
    return build_schedule(name, request);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

TEST_CASE("a report without spans has the numbers of one with them") {
  int compared = 0;
  int full = 0;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    for (const auto& [devices, microbatches] :
         {std::pair{4, 8}, std::pair{6, 12}, std::pair{1, 3}, std::pair{40, 80}, std::pair{2, 700}}) {
      std::optional<Schedule> schedule = schedule_of(entry.name, devices, microbatches);
      if (!schedule) continue;
      Job job;
      job.schedule = std::move(*schedule);
      for (std::uint32_t seed = 0; seed < 9; ++seed) {
        set_costs(job, seed);
        const std::optional<Report> brief = brief_report(job, kIterations);
        if (!brief) continue;
        ++compared;
        CAPTURE(entry.name);
        CAPTURE(seed);
        const auto& captured = devices;  // clang 14 captures no structured binding
        CAPTURE(captured);
        const Report whole = full_report(job);
        REQUIRE(report_json(*brief, {"", ""}) == report_json(whole, {"", ""}));
        if (out_of_memory(whole)) ++full;
      }
    }
  }
  MESSAGE(compared << " compared, " << full << " out of memory");
  CHECK(compared > 400);
  CHECK(full > 20);
}

// What a trace of its spans has: all bytes.
std::string trace_of_spans(const Job& job, const Report& report, const TraceInfo& info) {
  const auto program = std::get<Program>(lower(job.schedule));
  const Timeline timeline = simulate(program, job.schedule, job.costs, job.topology);
  std::string trace;
  (void)write_perfetto_trace(timeline, job.schedule, report, memory_curves(timeline, job.schedule, job.costs), info,
                             [&](std::string_view text) { trace += text; });
  return trace;
}

TEST_CASE("a trace that is written while the run goes by has the bytes of one of its spans") {
  int compared = 0;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    for (const auto& [devices, microbatches] :
         {std::pair{4, 8}, std::pair{6, 12}, std::pair{1, 3}, std::pair{24, 48}, std::pair{2, 700}}) {
      std::optional<Schedule> schedule = schedule_of(entry.name, devices, microbatches);
      if (!schedule) continue;
      Job job;
      job.schedule = std::move(*schedule);
      for (const std::uint32_t seed : {0U, 2U, 4U, 5U, 8U}) {  // of set_costs, as above
        set_costs(job, seed);
        if (seed == 8) job.costs = split_costs(job.schedule, 1, 0, 1);  // ops that take no time
        const std::optional<Report> brief = brief_report(job, 0);
        if (!brief) continue;
        ++compared;
        CAPTURE(entry.name);
        CAPTURE(seed);
        const auto& captured = devices;  // clang 14 captures no structured binding
        CAPTURE(captured);
        TraceInfo info{"debubble", "0", "here"};
        info.costs = &job.costs;
        info.causes = seed != 4;
        std::string streamed;
        const std::int64_t events =
            write_streamed_trace(job, *brief, info, [&](std::string_view text) { streamed += text; });
        REQUIRE(events > 0);
        REQUIRE(bool{streamed == trace_of_spans(job, *brief, info)});
      }
    }
  }
  MESSAGE(compared << " compared");
  CHECK(compared > 300);
}

// A stream of microbatches of which `held` are in memory at a time; now and then one stays longer than usual.
std::vector<std::pair<HeldThing, Bytes>> streamed_changes(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto held = static_cast<std::int32_t>(1 + seed % 5);
  std::vector<std::pair<HeldThing, Bytes>> changes;
  std::int32_t late = -1;
  for (std::int32_t piece = 0; piece < 2'000; ++piece) {
    const auto add = [&](HeldThing::What what, std::int32_t of, Bytes bytes) {
      if (of >= 0) changes.push_back({HeldThing{what, 0, of}, bytes});
    };
    add(HeldThing::What::kReceived, piece, 700'000);
    add(HeldThing::What::kActivation, piece, 9'000'000);
    add(HeldThing::What::kReceived, piece, -700'000);
    if (late >= 0) add(HeldThing::What::kActivation, late, -9'000'000);
    late = random() % 300 == 0 ? piece - held : -1;
    if (late < 0) add(HeldThing::What::kActivation, piece - held, -9'000'000);
    if (random() % 500 == 0) add(HeldThing::What::kWorkspace, piece, static_cast<Bytes>(random() % 50'000'000 + 1));
  }
  return changes;
}

TEST_CASE("a memory whose changes recur reserves what its allocator would") {
  StageCosts costs;
  costs.stages.resize(1);
  costs.stages[0].activation_tensors = 3;
  int failed = 0;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const bool expandable = seed % 2 == 1;
    const Bytes capacity = seed % 4 < 2 ? 0 : 150'000'000;
    AllocatedMemory each(costs, capacity, expandable);
    RecurringMemory recurring(costs, capacity, expandable);
    Bytes most = 0;
    Bytes recurring_most = 0;
    for (const auto& [thing, bytes] : streamed_changes(seed)) {
      const bool fits = each.change(thing, bytes);
      REQUIRE(recurring.change(thing, bytes) == fits);
      most = std::max(most, each.reserved());
      recurring_most = std::max(recurring_most, recurring.reserved());
      REQUIRE(recurring_most == most);
      if (fits) continue;
      ++failed;
      break;
    }
  }
  CHECK(failed > 0);
  CHECK(failed < 20);
}

TEST_CASE("what a report cannot do without spans it leaves to others") {
  Job job;
  job.schedule = build("1f1b", 4, 8);
  job.costs = split_costs(job.schedule, 1, 1, 1);
  job.topology = Topology::ideal(0, 0);
  CHECK(brief_report(job, 0).has_value());
  job.p2p = P2p::kBlocking;
  CHECK(!brief_report(job, 0).has_value());
  job.p2p = P2p::kOverlapped;
  std::swap(job.schedule.rows[1][0], job.schedule.rows[1].back());  // backward before forward
  CHECK(!brief_report(job, 0).has_value());
}

TEST_CASE("a run that the machine has no memory for is refused before it is tried") {
  CHECK(memory_left() > 0);
  CHECK_NOTHROW(require_room(1'000'000, std::numeric_limits<std::size_t>::max() / 2'000'000, ""));
  CHECK_NOTHROW(require_room(2'000'000, 1, ""));
  try {
    require_room(2'000'000, 1'000'000'000, "use fewer microbatches");
    FAIL("it was not refused");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().at(0).code == "X005");
    CHECK(error.diagnostics().at(0).message.starts_with("2000000 ops take about 1819 TiB of memory"));
    CHECK(error.diagnostics().at(0).help == "use fewer microbatches");
  }
}

}  // namespace
}  // namespace debubble::testing
