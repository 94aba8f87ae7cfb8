// What the references say a generator must refuse, and what physics allows though a framework refuses it.
#include "schedules/catalog.hpp"
#include "sim/rows/check.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// The refusal, or an empty one when the request is honoured.
Diagnostic rejections_refusal(const std::string& name, int p, int m, int v, const Params& params) {
  return first_problem([&] { (void)build(name, p, m, v, params); });
}

void check_refused(const std::string& name, int p, int m, int v, const Params& params) {
  CAPTURE(name);
  CAPTURE(p);
  CAPTURE(m);
  const Diagnostic problem = rejections_refusal(name, p, m, v, params);
  CHECK(problem.code.substr(0, 1) == "S");
  CHECK_FALSE(problem.message.empty());
  CHECK_FALSE(problem.help.empty());
}

}  // namespace

TEST_CASE("refused: interleaved groups smaller than the pipeline, which deadlock") {
  for (const char* group : {"1", "2", "3"}) check_refused("interleaved", 4, 8, 2, {{"group", group}});
  CHECK(rejections_refusal("interleaved", 4, 8, 2, {{"group", "3"}}).help.find('4') != std::string::npos);
}

TEST_CASE("refused: rounds of PyTorch that do not divide the microbatches") {
  check_refused("interleaved", 4, 11, 2, {{"rounding", "pytorch"}});
}

TEST_CASE("refused: Chimera on an odd number of devices, or with pairs that do not divide half of them") {
  for (const int devices : {1, 3, 5, 7}) check_refused("chimera", devices, 8, 0, {});
  for (const char* pairs : {"2", "4", "5", "6"}) check_refused("chimera", 6, 6, 0, {{"pairs", pairs}});
  check_refused("chimera", 8, 8, 0, {{"pairs", "3"}});
  check_refused("chimera", 8, 8, 0, {{"pairs", "0"}});
}

TEST_CASE("refused: BitPipe on an odd number of devices, with microbatches that p does not divide, in other chunks") {
  for (const int devices : {1, 3, 5, 7}) check_refused("bitpipe", devices, 4 * devices, 0, {});
  for (const int m : {1, 2, 3, 5, 6, 7, 9}) check_refused("bitpipe", 4, m, 0, {});
  for (const int chunks : {1, 3, 4}) check_refused("bitpipe", 4, 8, chunks, {});
  CHECK(rejections_refusal("bitpipe", 4, 8, 0, {}).code.empty());
  CHECK(rejections_refusal("bitpipe", 4, 8, 2, {}).code.empty());
}

TEST_CASE("refused: Hanayo and GEMS on one device, and waves that are no half of the chunks") {
  check_refused("gems", 1, 4, 0, {});
  check_refused("hanayo", 1, 4, 0, {});
  check_refused("hanayo", 4, 4, 3, {});
  check_refused("hanayo", 4, 4, 1, {});
  for (const char* waves : {"0", "-1", "2000000000"}) check_refused("hanayo", 4, 4, 0, {{"waves", waves}});
  check_refused("hanayo", 4, 4, 4, {{"waves", "1"}});
  CHECK(rejections_refusal("hanayo", 4, 4, 4, {{"waves", "2"}}).code.empty());
  CHECK(build("hanayo", 4, 4, 6).params == build("hanayo", 4, 4, 0, {{"waves", "3"}}).params);
}

TEST_CASE("refused: a DAPPLE device that may hold nothing") {
  for (const char* limit : {"0", "-1"}) check_refused("dapple", 4, 8, 0, {{"memory_limit", limit}});
  CHECK(rejections_refusal("dapple", 4, 8, 0, {{"memory_limit", "1"}}).code.empty());
}

TEST_CASE("refused: several stages per device where a schedule has one") {
  for (const char* name : {"naive", "dapple", "gems", "gpipe", "1f1b", "chimera"}) check_refused(name, 4, 8, 2, {});
  check_refused("depth-first", 4, 8, 1, {});
  check_refused("depth-first", 1, 8, 2, {});
}

TEST_CASE("refused: no devices, no microbatches, unknown schedules, unknown parameters and values") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    for (const int none : {0, -1, -4}) {
      check_refused(entry.name, none, 8, 0, {});
      check_refused(entry.name, 4, none, 0, {});
      if (none < 0) check_refused(entry.name, 4, 8, none, {});
    }
    check_refused(entry.name, 4, 8, 0, {{"no-such-parameter", "1"}});
    for (const ParamSpec& param : entry.params) {
      check_refused(entry.name, 4, 8, 0, {{param.name, "nonsense"}});
      check_refused(entry.name, 4, 8, 0, {{param.name, ""}});
    }
  }
  check_refused("no-such-schedule", 4, 8, 0, {});
  check_refused("interleaved", 4, 8, 2, {{"group", "4x"}});
  check_refused("interleaved", 4, 8, 2, {{"group", "99999999999999999999"}});
  check_refused("interleaved", 4, 8, 2, {{"extra_warmup", "-1"}});
  check_refused("depth-first", 4, 8, 2, {{"extra_warmup", "9"}});
  check_refused("1f1b", 4, 8, 1, {{"extra_warmup", "one"}});
}

TEST_CASE("noted, not refused: what only a framework refuses") {
  const auto notes = [](const Schedule& schedule) { return schedule.notes.size(); };
  CHECK(notes(build("1f1b", 4, 2)) > 0);  // PyTorch refuses m < p
  CHECK(notes(build("1f1b", 4, 4)) == 0);
  CHECK(notes(build("interleaved", 4, 10, 2, {{"group", "4"}})) > 0);  // Megatron Core: a last group of 2 < p
  CHECK(notes(build("interleaved", 4, 6, 2, {{"group", "4"}})) > 0);
  CHECK(notes(build("interleaved", 4, 8, 2, {{"group", "4"}})) == 0);
  CHECK(notes(build("interleaved", 4, 10, 2, {{"group", "5"}})) == 0);
  CHECK(notes(build("interleaved", 4, 10, 2)) > 0);  // the original Megatron: m % p
  CHECK(notes(build("depth-first", 4, 10, 2)) > 0);
  CHECK(notes(build("chimera", 4, 6)) > 0);  // an incomplete unit
  CHECK(notes(build("hanayo", 4, 6)) > 0);
  CHECK(notes(build("hanayo", 4, 8)) == 0);
}

TEST_CASE("a reversed backward does not deadlock where the sender places both ends of a transfer") {
  const Schedule schedule = build("gpipe", 4, 8);
  CHECK(std::holds_alternative<Program>(lower(schedule, P2p::kBlocking)));
}

// Makespans on which independent simulators of other people agree, at three sizes.

namespace {

struct Size {
  int devices, microbatches;
};

const std::vector<Size> kSizes{{8, 64}, {16, 256}, {64, 1024}};

// Times are per stage, and a stage of the interleaved rows is a chunk: f and b there are per chunk too.
Nanoseconds makespan(const Schedule& schedule, double f, double b, double hop) {
  const StageCosts costs = toy_costs(schedule, f * schedule.chunks, b * schedule.chunks);
  return totals_of(schedule, costs, {units(hop), 0}).makespan;
}

void check_sizes(const char* name, int chunks, double f, double b, double hop, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(kSizes[i].devices);
    const Schedule schedule = build(name, kSizes[i].devices, kSizes[i].microbatches, chunks);
    CHECK(makespan(schedule, f, b, hop) == units(expected[i]));
  }
}

}  // namespace

TEST_CASE("peers: 1F1B without latency") { check_sizes("1f1b", 1, 1, 2, 0, {213, 813, 3261}); }

TEST_CASE("peers: 1F1B with a hop of 0.01, backward as long as forward") {
  check_sizes("1f1b", 1, 1, 1, 0.01, {143.24, 547.08, 2195.40});
}

TEST_CASE("peers: 1F1B with a hop of 0.01") { check_sizes("1f1b", 1, 1, 2, 0.01, {214.24, 818.08, 3282.40}); }

TEST_CASE("peers: interleaved, two chunks, without latency") {
  check_sizes("interleaved", 2, 1, 2, 0, {405, 1581, 6333});
}

TEST_CASE("peers: interleaved, two chunks, with a hop of 0.01, backward as long as forward") {
  check_sizes("interleaved", 2, 1, 1, 0.01, {270.30, 1054.62, 4224.54});
}

TEST_CASE("peers: the split backward fills all but one hop's worth of 1F1B's tail") {
  const std::vector<double> expected{199, 783};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Schedule schedule = build("zb-h1", kSizes[i].devices, kSizes[i].microbatches);
    CHECK(totals_of(schedule, split_costs(schedule, 1, 1, 1)).makespan == units(expected[i]));
  }
}

TEST_CASE("peers: 1F1B exposes 124, 508 and 2140 hops, however long a hop is") {
  const std::vector<int> hops{124, 508, 2140};
  for (std::size_t i = 0; i < hops.size(); ++i) {
    const int p = kSizes[i].devices;
    const int m = kSizes[i].microbatches;
    const Schedule schedule = build("1f1b", p, m);
    const StageCosts costs = toy_costs(schedule, 1, 2);
    for (const double hop : {0.01, 0.05}) {
      CAPTURE(p);
      CAPTURE(hop);
      const EngineRun run = run_engine(schedule, costs, {units(hop), 0});
      CHECK(run.report.makespan == units(3.0 * (m + p - 1)) + hops[i] * units(hop));
      CHECK(run.report.critical_path.hops == hops[i]);
      CHECK(run.report.critical_path.transfer == hops[i] * units(hop));
    }
  }
}
