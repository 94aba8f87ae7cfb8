// What simulators of other people got wrong, each with the right behaviour: times, bubbles and deadlocks.
#include <chrono>

#include "cost_models/partition/partition.hpp"
#include "cost_models/uniform.hpp"
#include "formats/profile/profile_json.hpp"
#include "schedules/catalog.hpp"
#include "schedules/exchange/compute_table.hpp"
#include "sim/rows/check.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/reference_orders.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

StageCosts thousand_each(const Schedule& schedule) {
  StageCost cost;
  cost.forward = cost.input_grad = cost.weight_grad = 1'000;
  cost.backward = 2'000;
  StageCosts costs;
  costs.stages.assign(static_cast<std::size_t>(schedule.stages), cost);
  return costs;
}

}  // namespace

TEST_CASE("peers: a whole backward is charged for its weight gradient too") {
  // One peer gave 22,000 here: the weight half of a fused backward was never charged, with one chunk or several.
  const Schedule plain = build("1f1b", 4, 8);
  CHECK(totals_of(plain, thousand_each(plain)).makespan == 33'000);
  const Schedule chunked = build("interleaved", 4, 8, 2);
  CHECK(totals_of(chunked, thousand_each(chunked)).makespan == 57'000);
}

TEST_CASE("peers: a gradient is handed on at the end of a whole backward, not halfway through") {
  const Schedule schedule = build("gpipe", 2, 1);
  const EngineRun run = run_engine(schedule, thousand_each(schedule), {10, 0});
  // F 0-1000, hop, F 1010-2010, B 2010-4010, hop, B 4020-6020
  CHECK(run.timeline.makespan == 6'020);
}

TEST_CASE("peers: a weight gradient is never sent, so latency does not touch it") {
  const Schedule schedule = build("zb-h1", 8, 64);
  const EngineRun run = run_engine(schedule, split_costs(schedule, 1, 1, 1), {units(0.01), 0});
  CHECK(run.report.p2p_messages == 2 * 7 * 64);
  for (const Transfer& transfer : run.timeline.transfers) CHECK(transfer.op.kind != OpKind::kWeightGrad);
  for (const Span& span : run.timeline.spans) {
    if (span.op.kind == OpKind::kWeightGrad) CHECK(span.gate.kind == Gate::Kind::kSpan);
  }
  // A peer that charged W for a hop gave 199.85 units for this order, others 199.28.
  CHECK_EQ(mismatch(schedule, split_costs(schedule, 1, 1, 1), {units(0.01), 0}, units(199.28)), "");
}

TEST_CASE("peers: unequal stages are idle time of the other devices, not a bubble of 100 percent") {
  // Stage 0 takes three times as long as the others. A peer divided by the mean stage and printed 1.0.
  const Schedule schedule = build("1f1b", 4, 8);
  StageCosts costs = toy_costs(schedule, 1, 2);
  costs.stages[0].forward = units(3);
  costs.stages[0].backward = units(6);
  const EngineRun run = run_engine(schedule, costs, {});
  const auto rules = reference::simulate(schedule, costs, 0, 0, reference::Mode::kOverlapped);
  CHECK(run.report.makespan == rules.makespan);
  CHECK(run.report.makespan == units(8 * 9));  // the slow stage never waits: its four forwards cover the round trip
  const double busy = static_cast<double>(units(72 + 3 * 24));
  const double total = 4.0 * static_cast<double>(rules.makespan);
  CHECK(run.report.bubble_ratio == doctest::Approx(1 - busy / total));
  CHECK(run.report.bubble_over_ideal == doctest::Approx(total / busy - 1));
  CHECK(run.report.devices[0].idle == 0);
  for (std::size_t d = 1; d < 4; ++d) CHECK(run.report.devices[d].idle == units(72 - 24));
}

TEST_CASE("peers: a schedule whose sends cannot happen is a deadlock that names its cycle, never a success") {
  // A peer ended with exit code 0 and no result. Device 0 wants its gradient before it has sent what that needs.
  Schedule schedule = build("1f1b", 2, 2);
  schedule.rows[0] = {reference::make_op(OpKind::kForward, 0, 0), reference::make_op(OpKind::kBackward, 0, 0),
                      reference::make_op(OpKind::kForward, 0, 1), reference::make_op(OpKind::kBackward, 0, 1)};
  schedule.rows[1] = {reference::make_op(OpKind::kForward, 1, 0), reference::make_op(OpKind::kForward, 1, 1),
                      reference::make_op(OpKind::kBackward, 1, 0), reference::make_op(OpKind::kBackward, 1, 1)};
  for (const P2p p2p : kEveryP2p) {
    const auto lowered = lower(schedule, p2p);
    REQUIRE(std::holds_alternative<Deadlock>(lowered));
    const Deadlock& deadlock = std::get<Deadlock>(lowered);
    CHECK_EQ(broken_cycle(deadlock, schedule), "");
    CHECK(deadlock.cycle.size() == 2);
    const std::string text = to_string(deadlock);
    CHECK(contains(text, "device 0"));
    CHECK(contains(text, "0B0"));
    CHECK(contains(text, "1F1"));
  }
}

TEST_CASE("peers: rows in reverse on one device are found out before anything runs") {
  Schedule schedule = build("1f1b", 4, 4);
  std::reverse(schedule.rows[2].begin(), schedule.rows[2].end());
  CHECK_FALSE(find_problems(schedule).empty());
}

TEST_CASE("peers: every op of a split backward is compute, input gradients included") {
  const Schedule schedule = build("zb-h1", 4, 8);
  const EngineRun run = run_engine(schedule, split_costs(schedule, 1, 1, 1), {});
  CHECK(run.timeline.spans.size() == 4 * 8 * 3);
  for (const Span& span : run.timeline.spans) CHECK(span.end - span.begin == units(1));
  for (const DeviceReport& device : run.report.devices) CHECK(device.busy == units(24));
}

TEST_CASE("peers: blocking transfers are not the default, and cost what they hold") {
  // A peer charged every hop to the compute lane of a 1F1B run: 234 instead of 214 units.
  const Schedule schedule = build("1f1b", 8, 64);
  const StageCosts costs = toy_costs(schedule, 1, 2);
  const Program program = std::get<Program>(lower(schedule));
  CHECK(program.p2p == P2p::kOverlapped);
  CHECK(run_engine(schedule, costs, {units(0.01), 0}).totals.makespan == units(214.24));
  CHECK(run_engine(schedule, costs, {units(0.01), 0}, P2p::kBlocking).totals.makespan > units(214.24));
}

// What generators of other people got wrong, each with the right behaviour: orders and requests.

namespace {

std::string refusal(const std::string& name, int devices, int microbatches) {
  return problems_of([&] { (void)build(name, devices, microbatches); });
}

}  // namespace

TEST_CASE("peers: the last rank of 1F1B starts at microbatch 0 and ends at m-1") {
  CHECK(order_of(build("1f1b", 4, 6), 3) == "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
}

TEST_CASE("peers: 1F1B with fewer microbatches than devices runs, and says which framework would not") {
  for (int m = 1; m < 6; ++m) {
    const Schedule schedule = build("1f1b", 6, m);
    CHECK(totals_of(schedule, toy_costs(schedule, 1, 2)).makespan == units(3.0 * (m + 5)));
    REQUIRE(schedule.notes.size() == 1);
    CHECK(contains(schedule.notes[0], "PyTorch"));
  }
}

TEST_CASE("peers: no microbatches, or fewer than none, is an error and not a result") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    for (const int m : {0, -4}) CHECK(contains(refusal(entry.name, 4, m), std::to_string(m)));
  }
}

TEST_CASE("peers: an unknown schedule is told the name that was meant") {
  CHECK(contains(refusal("1f1c", 4, 8), "1f1b"));
  CHECK(contains(refusal("interleved", 4, 8), "interleaved"));
  CHECK(contains(refusal("zb-hh1", 4, 8), "zb-h1"));
  CHECK(contains(refusal("chimaera", 4, 8), "chimera"));
}

TEST_CASE("peers: the interleaved schedule on eight devices is built at once") {
  const auto start = std::chrono::steady_clock::now();
  for (int v = 2; v <= 4; ++v)
    CHECK(build("interleaved", 8, 64, v).total_ops() == std::size_t{8 * 64 * 2} * static_cast<std::size_t>(v));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("peers: a table with overlapped pairs can be read and simulated") {
  const std::string table =
      "0F0,0F1,(0F2;0B0)OVERLAP_F_B,0B1,0B2\n"
      "1F0,1B0,1F1,(1F2;1B1)OVERLAP_F_B,1B2\n";
  const Schedule schedule = read_compute_table(table, "pairs.csv");
  StageCosts costs = toy_costs(schedule, 1, 2);
  // d0: F0 0-1, F1 1-2, pair 4-7, B1 10-12, B2 12-14; d1: F0 1-2, B0 2-4, F1 4-5, pair 7-10, B2 10-12
  CHECK_EQ(mismatch(schedule, costs, {}, units(14)), "");
  costs.overlapped_pair = units(2);
  CHECK_EQ(mismatch(schedule, costs, {}, units(12)), "");
}

TEST_CASE("peers: a table in which an op is missing, twice or out of reach is refused, with its place") {
  const auto problems = [](const std::string& table) -> std::string {
    return problems_of([&] { (void)read_compute_table(table, "t.csv"); });
  };
  CHECK(problems("0F0,0B0\n1F0,1B0\n").empty());
  CHECK(contains(problems("0F0,0B0\n1F0\n"), "1"));                // backward of stage 1 missing
  CHECK(contains(problems("0F0,0F0,0B0\n1F0,1B0\n"), "t.csv:1"));  // twice
  CHECK(contains(problems("0F0,7REDUCE_GRAD,0B0\n1F0,1B0\n"), "t.csv:1"));
  CHECK(contains(problems("0B0,0F0\n1F0,1B0\n"), "t.csv:1"));              // reversed on one rank
  CHECK(contains(problems("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n"), "0B0"));  // deadlock between the ranks
}

// What tools of other people made of impossible input, each with the right behaviour: it is refused, with its place.

namespace {

std::string profile_with_forward(const std::string& median) {
  return R"({"schema": "debubble.profile/1", "model": "m", "dtype": "fp32", "microbatch_size": 1,
             "sequence_length": 1, "origin": {"times": "measured", "memory": "measured", "device": "d",
             "driver": "1", "cuda": "12", "method": "by hand", "date": "2026-01-01", "repetitions": 1},
             "layers": [{"name": "l", "kind": "k", "forward": {"median_ns": )" +
         median + R"(}, "backward": {"median_ns": 2000}, "activation_bytes": 1, "output_bytes": 1,
             "parameter_bytes": 1}]})";
}

std::vector<int> typed_cut(const std::string& text, int stages) {
  Profile profile;
  profile.layers.resize(32);
  return cut_layers(parse_cut_rule(text), {&profile, stages}).layers;
}

}  // namespace

TEST_CASE("peers: a negative time in a profile is an error, not a negative makespan") {
  CHECK(problems_of([] { (void)read_profile(profile_with_forward("1000"), "p.json"); }).empty());
  const std::string problems = problems_of([] { (void)read_profile(profile_with_forward("-1000"), "p.json"); });
  CHECK(contains(problems, "/layers/0/forward/median_ns"));
  CHECK(contains(problems, "-1000"));
}

TEST_CASE("peers: NaN, infinities, fractions and text are not times") {
  for (const char* bad : {"NaN", "1e400", "0.5", "\"1000\"", "null", "-0.0", "99999999999999999999"}) {
    CAPTURE(bad);
    CHECK_FALSE(problems_of([&] { (void)read_profile(profile_with_forward(bad), "p.json"); }).empty());
  }
}

TEST_CASE("peers: layers that do not fit the stages are an error that counts both") {
  const std::string problems = problems_of([] { (void)typed_cut("6,6,6,6", 4); });
  CHECK(contains(problems, "32"));
  CHECK(contains(problems, "24"));
  CHECK_FALSE(problems_of([] { (void)typed_cut("8,8,8", 4); }).empty());
  CHECK_FALSE(problems_of([] { (void)typed_cut("8,8,8,0,8", 5); }).empty());
  CHECK_FALSE(problems_of([] { (void)typed_cut("8,8,8,-8,16", 5); }).empty());
  CHECK(typed_cut("8,8,8,8", 4) == std::vector<int>{8, 8, 8, 8});
}

TEST_CASE("peers: 32 layers on 5 devices are cut unevenly, not refused and not dropped") {
  Profile profile = read_profile(profile_with_forward("1000"), "p.json");
  profile.layers.assign(32, profile.layers.at(0));
  int placed = 0;
  for (const int layers : cut_layers({}, {&profile, 5}).layers) {
    CHECK(layers >= 6);
    CHECK(layers <= 7);
    placed += layers;
  }
  CHECK(placed == 32);
}

TEST_CASE("peers: sums that no longer fit are an error, not a wrapped-around time") {
  const Schedule schedule = build("1f1b", 4, 4'096);
  StageCost cost;
  cost.forward = cost.backward = kLongestDuration;
  StageCosts costs;
  costs.stages.assign(4, cost);
  CHECK_FALSE(problems_of([&] { (void)totals_of(schedule, costs); }).empty());
  StageCost large;
  large.forward = large.backward = 1;
  large.activation = large.weights = large.output = kLargestSize;
  costs.stages.assign(4, large);
  const Schedule wide = build("gpipe", 4, 4'096);
  CHECK_FALSE(problems_of([&] { (void)totals_of(wide, costs); }).empty());
}

TEST_CASE("peers: bubbles lie between 0 and 1 whatever the stages cost") {
  for (const Nanoseconds slow : {Nanoseconds{0}, Nanoseconds{1}, Nanoseconds{1'000'000'000}}) {
    const Schedule schedule = build("1f1b", 4, 8);
    StageCosts costs = toy_costs(schedule, 1, 2);
    for (StageCost& cost : costs.stages) cost.forward = cost.backward = slow;
    costs.stages[1].forward = 3 * slow;
    const Report report = run_engine(schedule, costs, {}).report;
    CHECK(report.bubble_ratio >= 0);
    CHECK(report.bubble_ratio < 1);
    CHECK(report.span_bubble_ratio >= 0);
    CHECK(report.span_bubble_ratio < 1);
  }
}
