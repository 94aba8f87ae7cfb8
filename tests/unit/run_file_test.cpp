// Run files: what is written is read back as it was, whatever the schedule, and the same record gives the same bytes.
#include "formats/run/run_file.hpp"
#include "formats/exporters/report_json.hpp"
#include "schedules/catalog.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/rows/observed.hpp"
#include "studies/runs/predict.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

std::string written(const RunRecord& record) {
  std::string text;
  write_run_file(record, [&](std::string_view piece) { text += piece; });
  return text;
}

// The report of a read iteration must equal that of the run that was written, gates and all: causes of idle time and
// the critical path follow from them.
std::string report_text(const RunRecord& record) { return report_json(report_of(record, 0), {"", ""}); }

// A simulated record of the schedule; nothing when it deadlocks.
std::vector<RunRecord> simulated(const Schedule& schedule, const StageCosts& costs, const Topology& links, P2p p2p) {
  auto lowered = lower(schedule, p2p);
  const auto* program = std::get_if<Program>(&lowered);
  if (program == nullptr) return {};
  Simulated run;
  run.job.schedule = schedule;
  run.job.costs = costs;
  run.job.topology = links;
  run.job.p2p = p2p;
  run.result.timeline = simulate(*program, schedule, costs, links);
  return {record_of(run, "debubble simulate")};
}

void check_round_trip(const RunRecord& record) {
  const std::string text = written(record);
  const RunRecord back = read_run_text(text, "run.json");
  REQUIRE(written(back) == text);
  REQUIRE(back.schedule.rows == record.schedule.rows);
  REQUIRE(back.schedule.placement == record.schedule.placement);
  REQUIRE(back.schedule.replica_of == record.schedule.replica_of);
  REQUIRE(back.schedule.params == record.schedule.params);
  REQUIRE(back.costs.stages == record.costs.stages);
  REQUIRE(back.costs.overlapped_pair == record.costs.overlapped_pair);
  REQUIRE(back.origin == record.origin);
  REQUIRE(back.clocks == record.clocks);
  REQUIRE(report_text(back) == report_text(record));
}

// Nothing of a run that could not be read back is written.
void check_refused(const RunRecord& record) {
  bool wrote = false;
  CHECK_THROWS_WITH_AS(write_run_file(record, [&](std::string_view) { wrote = true; }), doctest::Contains("T054"),
                       InputError);
  CHECK(!wrote);
}

TEST_CASE(
    "a simulated run of every catalog row survives the round trip, in every mode of transfer, or is not written") {
  int runs = 0;
  int refused = 0;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    const std::vector<Schedule> schedules = testing::schedules_of(entry);
    for (std::size_t k = 0; k < schedules.size(); k += 7) {
      CAPTURE(testing::describe(schedules[k]));
      testing::Dice dice(k);
      const StageCosts costs = testing::random_costs(schedules[k].stages, dice);
      for (const P2p p2p : testing::kEveryP2p) {
        if (p2p != P2p::kOverlapped && not_observable(schedules[k])) continue;  // not even simulated: X012
        for (const RunRecord& record : simulated(schedules[k], costs, Topology::ideal(1234, 1'000'000'007), p2p)) {
          if (not_observable(record.schedule)) {
            check_refused(record);
            ++refused;
            continue;
          }
          check_round_trip(record);
          ++runs;
        }
      }
    }
  }
  CHECK(runs > 100);
  CHECK(refused > 0);
}

TEST_CASE("runs of random schedules, with pairs, pieces and replicas, survive the round trip") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    testing::Dice dice(seed);
    const Schedule schedule = testing::random_schedule(dice);
    const StageCosts costs = testing::random_costs(schedule.stages, dice);
    const testing::HopFigures link = testing::random_link(dice);
    for (const RunRecord& record :
         simulated(schedule, costs, Topology::ideal(link.latency, link.bandwidth), P2p::kOverlapped)) {
      check_round_trip(record);
    }
  }
}

TEST_CASE("everything that a record holds survives the round trip") {
  const Schedule schedule = build_schedule("1f1b", {.devices = 4, .microbatches = 8, .chunks = 0, .params = {}});
  StageCosts costs;
  costs.stages.assign(static_cast<std::size_t>(schedule.stages), StageCost{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  costs.stages.front().activation_tensors = 34;
  costs.overlapped_pair = 17;
  costs.at_work = {{1, costs.stages}, {3, costs.stages}};
  for (TimesAtWork& times : costs.at_work) {  // op times alone are written
    times.stages.assign(times.stages.size(), StageCost{times.devices, 2, 3, 4});
  }
  RunRecord record = simulated(schedule, costs, Topology::ideal(5, 6), P2p::kOverlapped).at(0);
  record.schedule.notes = {"a note", "with \"quotes\" and\nlines"};
  record.schedule.params = {{"group", "4"}, {"alpha", "x"}};
  record.assumptions = {{"forward", "1 ms", Source::kGiven},
                        {"link", "", Source::kPublished},
                        {.key = "bandwidth",
                         .amount = "0 B/s",
                         .source = Source::kMeasured,
                         .subject = "ring",
                         .meaning = "of a link",
                         .citation = "a bench",
                         .changes_result = false}};
  record.samples_per_microbatch = 3;
  record.tokens_per_sample = 4096;
  record.origin = {"cuda",
                   "gpu",
                   "NVIDIA H200",
                   "580.1",
                   "13.0",
                   "NCCL 2.28",
                   "events",
                   "2026-11-20T10:00:00Z",
                   "debubble live",
                   "0.1.0",
                   {"16 SMs each", "clocks steady"}};
  record.clocks = {"ping-pong", 750, {0, -12, 7, 3}};
  record.tensors_checked = 84;
  record.losses = {{"ops without a range", 2}};
  record.iterations.push_back(record.iterations.front());
  record.iterations.back().peak_activation = {1, 2, 3, 4};
  record.iterations.back().peak_memory = {10, 20, 30, 40};
  const RunRecord back = read_run_text(written(record), "run.json");
  CHECK(written(back) == written(record));
  CHECK(back.costs.at_work == costs.at_work);
  CHECK(back.origin == record.origin);
  CHECK(back.clocks == record.clocks);
  CHECK(back.schedule.notes == record.schedule.notes);
  CHECK(back.schedule.params == record.schedule.params);
  REQUIRE(back.assumptions.size() == 3);
  CHECK(back.assumptions[1].source == Source::kPublished);
  CHECK(back.assumptions[1].changes_result);
  CHECK(full_text(back.assumptions[2]) == "0 B/s (a bench)");
  CHECK(label(back.assumptions[2]) == "bandwidth: of a link");
  CHECK(back.assumptions[2].subject == "ring");
  CHECK_FALSE(back.assumptions[2].changes_result);
  CHECK(back.samples_per_microbatch == 3);
  CHECK(back.tokens_per_sample == 4096);
  CHECK(back.hop_latency == 5);
  CHECK(back.hop_bandwidth == 6);
  CHECK(back.tensors_checked == 84);
  CHECK(back.losses == record.losses);
  REQUIRE(back.iterations.size() == 2);
  CHECK(back.iterations[0].peak_memory.empty());
  CHECK(back.iterations[1].peak_activation == std::vector<Bytes>{1, 2, 3, 4});
  CHECK(back.iterations[1].peak_memory == std::vector<Bytes>{10, 20, 30, 40});
}

TEST_CASE("a measured run in another order than its row's keeps the order it ran in") {
  const Schedule schedule = build_schedule("gpipe", {.devices = 1, .microbatches = 2, .chunks = 0, .params = {}});
  StageCosts costs;
  costs.stages.push_back({10, 20, 10, 10, 1, 0, 0, 0, 0, 0, 0});
  RunRecord record = simulated(schedule, costs, Topology::ideal(0, 0), P2p::kOverlapped).at(0);
  std::vector<Span>& spans = record.iterations[0].timeline.spans;
  record.iterations[0].timeline.measured = true;
  std::swap(spans[0].op, spans[1].op);
  const RunRecord back = read_run_text(written(record), "run.json");
  const Timeline& timeline = back.iterations[0].timeline;
  CHECK(timeline.measured);
  CHECK(to_string(timeline.spans[0].op) == "0F1");
  CHECK(to_string(timeline.spans[1].op) == "0F0");
  CHECK(to_string(back.schedule.rows[0][0]) == "0F0");
}

TEST_CASE("members of a pair that ran one after the other stay two spans") {
  const std::vector<Schedule> none;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    testing::Dice dice(seed);
    Schedule schedule = testing::random_schedule(dice);
    const bool paired = std::any_of(schedule.rows.begin(), schedule.rows.end(), [](const auto& row) {
      return std::any_of(row.begin(), row.end(), [](const Op& op) { return op.paired_with_next; });
    });
    if (!paired) continue;
    CAPTURE(seed);
    Schedule single = schedule;
    for (auto& row : single.rows) {
      for (Op& op : row) op.paired_with_next = false;
    }
    StageCosts costs;
    costs.stages.assign(static_cast<std::size_t>(schedule.stages), StageCost{10, 20, 10, 10, 1, 0, 0, 0, 0, 0, 0});
    const auto records = simulated(single, costs, Topology::ideal(0, 0), P2p::kOverlapped);
    if (records.empty()) continue;
    RunRecord record = records.front();
    record.iterations[0].timeline.measured = true;
    record.schedule = schedule;  // what was asked for; the run took pairs apart
    const RunRecord back = read_run_text(written(record), "run.json");
    REQUIRE(back.iterations[0].timeline.spans.size() == schedule.total_ops());
    return;
  }
  FAIL("no seed gives a schedule with pairs");
}

TEST_CASE("the prediction of a simulated record is the record itself") {
  const Schedule schedule = build_schedule("zb-h1", {.devices = 4, .microbatches = 6, .chunks = 0, .params = {}});
  testing::Dice dice(7);
  const StageCosts costs = testing::random_costs(schedule.stages, dice);
  const RunRecord record = simulated(schedule, costs, Topology::ideal(77, 0), P2p::kOverlapped).at(0);
  NoProgress silent;
  const Simulated predicted = simulate_record(read_run_text(written(record), "run.json"), silent);
  Report report = predicted.result.report;
  CHECK(report.steady_period.has_value());
  report.steady_period.reset();
  CHECK(report_json(report, {"", ""}) == report_text(record));
  CHECK(written(record_of(predicted, record.origin.command_line)) == written(record));
}

TEST_CASE("the median iteration is the middle one by makespan and the lower one of two") {
  RunRecord record;
  for (const Nanoseconds makespan : {50, 10, 40, 20}) {
    record.iterations.emplace_back().timeline.makespan = makespan;
  }
  CHECK(median_iteration(record) == 3);
  record.iterations.emplace_back().timeline.makespan = 30;
  CHECK(median_iteration(record) == 4);
}

TEST_CASE("an allocator's own peak stands in the report in place of the computed one") {
  const Schedule schedule = build_schedule("1f1b", {.devices = 2, .microbatches = 2, .chunks = 0, .params = {}});
  StageCosts costs;
  costs.stages.assign(2, StageCost{10, 20, 10, 10, 100, 0, 0, 0, 0, 0, 0});
  RunRecord record = simulated(schedule, costs, Topology::ideal(0, 0), P2p::kOverlapped).at(0);
  CHECK(report_of(record, 0).devices[0].peak_activation == 200);
  record.iterations[0].peak_activation = {250, 150};
  const Report report = report_of(record, 0);
  CHECK(report.devices[0].peak_activation == 250);
  CHECK(report.devices[0].peak_activation_shares == doctest::Approx(2.5));
  CHECK(report.devices[1].peak_activation == 150);
  CHECK_FALSE(report.steady_period.has_value());
}

}  // namespace
}  // namespace debubble
