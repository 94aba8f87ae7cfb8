// What schedules may hold beside F, B, I and W of equal pieces, on cases that a person has worked out by hand.
#include "sim/analysis/analyse.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/rows/check.hpp"
#include "tests/support/test.hpp"

using namespace debubble;

namespace {

constexpr auto kF = OpKind::kForward;
constexpr auto kB = OpKind::kBackward;
constexpr auto kR = OpKind::kRecompute;
constexpr auto kS = OpKind::kVocabularyLogits;
constexpr auto kT = OpKind::kVocabularyGradient;

Schedule empty_schedule(int devices, int microbatches) {
  Schedule schedule;
  schedule.name = "by hand";
  schedule.devices = schedule.stages = devices;
  schedule.microbatches = microbatches;
  schedule.placement = loop_placement(devices, devices);
  schedule.replica_of.assign(static_cast<std::size_t>(microbatches), 0);
  schedule.rows.resize(static_cast<std::size_t>(devices));
  return schedule;
}

StageCosts costs_of(int stages, const StageCost& cost) {
  StageCosts costs;
  costs.stages.assign(static_cast<std::size_t>(stages), cost);
  return costs;
}

StageCost times(Nanoseconds forward, Nanoseconds backward) {
  StageCost cost;
  cost.forward = forward;
  cost.backward = backward;
  return cost;
}

struct Run {
  Timeline timeline;
  Report report;
  Totals totals;
};

Run run(const Schedule& schedule, const StageCosts& costs, Nanoseconds latency = 0) {
  const Program program = std::get<Program>(lower(schedule));
  const Topology topology = Topology::ideal(latency, 0);
  Run made{simulate(program, schedule, costs, topology), {}, simulate_totals(program, costs, topology)};
  made.report = analyse(made.timeline, schedule, costs);
  CHECK_EQ(made.totals.makespan, made.timeline.makespan);
  return made;
}

std::vector<Nanoseconds> begins(const Timeline& timeline, std::size_t device) {
  std::vector<Nanoseconds> all;
  for (auto k = timeline.device_begin[device]; k < timeline.device_begin[device + 1]; ++k) {
    all.push_back(timeline.spans[static_cast<std::size_t>(k)].begin);
  }
  return all;
}

Nanoseconds idle_for(const DeviceReport& device, IdleCause cause) {
  return device.idle_by_cause[static_cast<std::size_t>(cause)];
}

using Times = std::vector<Nanoseconds>;

// GPipe with every activation made again in front of its backward: in time, or only once the gradient is there.
Schedule gpipe_recomputed(int p, int m, bool late) {
  Schedule schedule = empty_schedule(p, m);
  for (int s = 0; s < p; ++s) {
    auto& row = schedule.rows[static_cast<std::size_t>(s)];
    for (int i = 0; i < m; ++i) row.push_back({kF, false, s, i});
    for (int i = 0; i < m; ++i) {
      row.push_back({kR, late, s, i});
      row.push_back({kB, false, s, i});
    }
  }
  return schedule;
}

// F0 F1 F2 B0 B1 B2 on one device; the first activation leaves and comes back.
Schedule one_offload(std::int32_t after) {
  Schedule schedule = empty_schedule(1, 3);
  for (const OpKind kind : {kF, kB}) {
    for (int i = 0; i < 3; ++i) schedule.rows[0].push_back({kind, false, 0, i});
  }
  schedule.copies = {{{Copy::Way::kOut, 0, 0, -1, -1}, {Copy::Way::kBack, 0, 0, -1, after}}};
  return schedule;
}

StageCosts offload_costs() {
  StageCost cost = times(2, 4);
  cost.copy = 3;
  cost.activation = 10;
  return costs_of(1, cost);
}

// One microbatch on two devices; the output layer is split over both.
Schedule split_output_layer(int barriers) {
  Schedule schedule = empty_schedule(2, 1);
  schedule.vocabulary_barriers = barriers;
  schedule.rows[0] = {{kF, false, 0, 0}, {kS, false, 0, 0}, {kT, false, 0, 0}, {kB, false, 0, 0}};
  schedule.rows[1] = {{kF, false, 1, 0}, {kS, false, 1, 0}, {kB, false, 1, 0}, {kT, false, 1, 0}};
  if (barriers == 2) std::swap(schedule.rows[1][2], schedule.rows[1][3]);
  return schedule;
}

StageCosts vocabulary_costs() {
  StageCosts costs = costs_of(2, times(1, 2));
  costs.vocabulary = VocabularyCost{3, 4, 5, 100};
  return costs;
}

std::vector<std::string> codes(const Schedule& schedule) {
  std::vector<std::string> found;
  for (const ScheduleProblem& problem : find_problems(schedule)) found.push_back(problem.code);
  return found;
}

using Codes = std::vector<std::string>;

std::string refusal(const Schedule& schedule, const StageCosts& costs, P2p p2p) {
  return first_problem([&] {
           const auto lowered = lower(schedule, p2p);
           (void)simulate_totals(std::get<Program>(lowered), costs, Topology::ideal(0, 0));
         })
      .code;
}

}  // namespace

TEST_CASE("recomputing in time costs its own length, and late also once per stage of the drain") {
  StageCost cost = times(1, 2);
  cost.recompute = 1;
  CHECK_EQ(run(gpipe_recomputed(4, 8, false), costs_of(4, cost)).timeline.makespan, (8 + 4 - 1) * 3 + 8);
  CHECK_EQ(run(gpipe_recomputed(4, 8, true), costs_of(4, cost)).timeline.makespan, 44);
}

TEST_CASE("a recomputed microbatch holds its checkpoint from F and its activation from R") {
  StageCost cost = times(1, 2);
  cost.recompute = 1;
  cost.activation = 100;
  cost.checkpoint = 7;
  cost.weight_grad_held = 0;
  const Run made = run(gpipe_recomputed(2, 3, false), costs_of(2, cost));
  CHECK_EQ(made.report.devices[0].peak_activation, 3 * 7 + 100);
  CHECK_EQ(made.totals.devices[0].peak_activation, 3 * 7 + 100);
}

TEST_CASE("members of a pair take their sum, or the longer one's time where they run side by side") {
  Schedule schedule = empty_schedule(1, 2);
  schedule.rows[0] = {{kF, false, 0, 0}, {kF, true, 0, 1}, {kB, false, 0, 0}, {kB, false, 0, 1}};
  StageCosts costs = costs_of(1, times(3, 5));
  CHECK_EQ(run(schedule, costs).timeline.makespan, 3 + 8 + 5);
  schedule.pairs_run_side_by_side = true;
  CHECK_EQ(run(schedule, costs).timeline.makespan, 3 + 5 + 5);
  costs.overlapped_pair = 6;
  CHECK_EQ(run(schedule, costs).timeline.makespan, 3 + 6 + 5);
}

TEST_CASE("unequal slices take their shares of the time and of the memory") {
  Schedule schedule = empty_schedule(1, 1);
  schedule.pieces = 3;
  schedule.sliced = true;
  schedule.piece_shares = {3, 2, 1};
  schedule.replica_of = {0, 0, 0};
  for (const int q : {0, 1, 2}) schedule.rows[0].push_back({kF, false, 0, q});
  for (const int q : {2, 1, 0}) schedule.rows[0].push_back({kB, false, 0, q});
  StageCost cost = times(100, 200);
  cost.activation = 60;
  const Run made = run(schedule, costs_of(1, cost));
  // Forward 50, 33, 17; backward 33, 67, 100.
  CHECK(begins(made.timeline, 0) == Times{0, 50, 83, 100, 133, 200});
  CHECK_EQ(made.timeline.makespan, 300);
  CHECK_EQ(made.report.devices[0].peak_activation, 60);
}

TEST_CASE("slices out of order are refused by the check and by the lowering") {
  Schedule schedule = empty_schedule(1, 1);
  schedule.pieces = 2;
  schedule.sliced = true;
  schedule.replica_of = {0, 0};
  schedule.rows[0] = {{kF, false, 0, 0}, {kF, false, 0, 1}, {kB, false, 0, 1}, {kB, false, 0, 0}};
  CHECK(codes(schedule).empty());
  const StageCosts costs = costs_of(1, times(1, 1));
  CHECK_EQ(refusal(schedule, costs, P2p::kOverlapped), "");
  std::swap(schedule.rows[0][2], schedule.rows[0][3]);
  CHECK(codes(schedule) == Codes{"T009"});
  CHECK_EQ(refusal(schedule, costs, P2p::kOverlapped), "T009");
  std::swap(schedule.rows[0][2], schedule.rows[0][3]);
  schedule.rows[0][0].paired_with_next = true;
  CHECK(codes(schedule) == Codes{"T009"});
  CHECK_EQ(refusal(schedule, costs, P2p::kOverlapped), "T009");
}

TEST_CASE("an offloaded activation leaves behind its F and is waited for") {
  const Run made = run(one_offload(2), offload_costs());
  // Out 2-5; F2 begins at 4, so back 5-8; B0 waits from 6 to 8.
  CHECK(begins(made.timeline, 0) == Times{0, 2, 4, 8, 12, 16});
  CHECK_EQ(made.timeline.copies.at(0).begin, 2);
  CHECK_EQ(made.timeline.copies.at(1).begin, 5);
  const DeviceReport& device = made.report.devices[0];
  CHECK_EQ(idle_for(device, IdleCause::kMemoryLimit), 2);
  CHECK_EQ(device.peak_activation, 30);
  CHECK_EQ(device.peak_host_memory, 10);
  CHECK_EQ(made.totals.devices[0].peak_host, 10);
  CHECK_EQ(made.report.critical_path.transfer, 6);
  CHECK_EQ(made.report.critical_path.compute, 14);
}

TEST_CASE("a copy that is quick enough makes room, and nobody waits") {
  StageCosts costs = offload_costs();
  costs.stages[0].copy = 1;
  // Out 2-3, back with F2 4-5: never more than two at home, but for F2 and the one that returns.
  const Run made = run(one_offload(2), costs);
  CHECK_EQ(made.timeline.makespan, 18);
  CHECK_EQ(made.report.devices[0].peak_activation, 30);
  // Back only with B0's predecessor gone would be too late: position 3 is B0 itself.
  CHECK(codes(one_offload(3)) == Codes{"T011"});
}

TEST_CASE("a peer's memory holds what BPipe moves there") {
  Schedule schedule = empty_schedule(2, 1);
  schedule.rows = {{{kF, false, 0, 0}, {kB, false, 0, 0}}, {{kF, false, 1, 0}, {kB, false, 1, 0}}};
  schedule.copies = {{{Copy::Way::kOut, 0, 0, 1, -1}, {Copy::Way::kBack, 0, 0, 1, -1}}, {}};
  StageCosts costs = costs_of(2, times(10, 10));
  costs.stages[0].copy = 2;
  costs.stages[0].activation = 5;
  costs.stages[1].activation = 1;
  // Device 0: F 0-10, out 10-12, back 12-14. Device 1: F 10-20, with the peer's 5 from 10 to 14.
  const Run made = run(schedule, costs);
  CHECK_EQ(made.report.devices[1].peak_activation, 6);
  CHECK_EQ(made.totals.devices[1].peak_activation, 6);
  CHECK_EQ(made.report.devices[0].peak_host_memory, 0);
}

TEST_CASE("a split output layer waits for all its shards, and once more with two barriers") {
  const Run one = run(split_output_layer(1), vocabulary_costs(), 10);
  // 1F0 11-12, 1S0 12-15; its output reaches device 0 at 22: 0S0 22-25. The barrier ends at 30.
  CHECK(begins(one.timeline, 0) == Times{0, 22, 30, 42});
  CHECK(begins(one.timeline, 1) == Times{11, 12, 30, 32});
  CHECK_EQ(one.timeline.makespan, 44);
  CHECK_EQ(idle_for(one.report.devices[1], IdleCause::kCollective), 5);
  CHECK_EQ(one.report.critical_path.collective, 5);
  CHECK_EQ(one.report.devices[0].peak_activation, 100);
  const Run two = run(split_output_layer(2), vocabulary_costs(), 10);
  // Both T 30-34, the second barrier to 39, 1B0 39-41.
  CHECK(begins(two.timeline, 1) == Times{11, 12, 30, 39});
  CHECK_EQ(two.timeline.makespan, 53);
  CHECK_EQ(two.report.critical_path.collective, 10);
}

TEST_CASE("a split output layer is whole, on one replica, with its barriers") {
  Schedule schedule = split_output_layer(1);
  schedule.rows[0].erase(schedule.rows[0].begin() + 2);
  CHECK(codes(schedule) == Codes{"T072"});
  schedule = split_output_layer(0);
  CHECK(codes(schedule) == Codes{"T072"});
  schedule = split_output_layer(3);
  CHECK_EQ(codes(schedule).at(0), "T072");
  schedule = split_output_layer(1);
  std::swap(schedule.rows[0][1], schedule.rows[1][1]);
  CHECK(codes(schedule) == Codes{"T008", "T008"});
}

TEST_CASE("shares and copies that make no sense are refused") {
  Schedule schedule = one_offload(-1);
  CHECK(codes(schedule).empty());
  schedule.piece_shares = {1, 2};
  CHECK(codes(schedule) == Codes{"T071"});
  schedule = one_offload(-1);
  schedule.copies[0][0].microbatch = 7;
  CHECK(codes(schedule) == Codes{"T074", "T074"});
  schedule = one_offload(-1);
  schedule.copies[0].pop_back();
  CHECK(codes(schedule) == Codes{"T074"});
  schedule = one_offload(-1);
  schedule.copies[0].push_back(schedule.copies[0][1]);
  CHECK(codes(schedule) == Codes{"T003"});
}

TEST_CASE("only a recomputation shares a cell with its own backward, and only in front of it") {
  Schedule schedule = empty_schedule(1, 1);
  schedule.rows[0] = {{kF, false, 0, 0}, {kR, true, 0, 0}, {kB, false, 0, 0}};
  CHECK(codes(schedule).empty());
  schedule.rows[0] = {{kF, false, 0, 0}, {kB, true, 0, 0}, {kR, false, 0, 0}};
  CHECK(codes(schedule) == Codes{"T010"});
  schedule.rows[0] = {{kF, true, 0, 0}, {kR, false, 0, 0}, {kB, false, 0, 0}};
  CHECK(codes(schedule) == Codes{"T010"});
}

TEST_CASE("what runs beside compute is refused where transfers hold the lanes, and shards without costs") {
  CHECK_EQ(refusal(one_offload(-1), offload_costs(), P2p::kBlocking), "X012");
  CHECK_EQ(refusal(split_output_layer(1), vocabulary_costs(), P2p::kCoupled), "X012");
  CHECK_EQ(refusal(split_output_layer(1), costs_of(2, times(1, 2)), P2p::kOverlapped), "X011");
}

TEST_CASE("weights that replicas share count once on a device") {
  Schedule schedule = empty_schedule(1, 2);
  schedule.placement = Placement(2, 1, {0, 0});
  schedule.replica_of = {0, 1};
  schedule.rows[0] = {{kF, false, 0, 0}, {kB, false, 0, 0}, {kF, false, 0, 1}, {kB, false, 0, 1}};
  StageCost cost = times(1, 1);
  cost.weights = 8;
  CHECK_EQ(run(schedule, costs_of(1, cost)).totals.devices[0].peak_memory, 16);
  schedule.replicas_share_weights = true;
  const Run shared = run(schedule, costs_of(1, cost));
  CHECK_EQ(shared.totals.devices[0].peak_memory, 8);
  CHECK_EQ(shared.report.devices[0].peak_memory, 8);
}
