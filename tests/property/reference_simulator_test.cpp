// The reference simulator is what everything else is held against, so a person has worked these runs out by hand.
#include "tests/support/reference_simulator.hpp"

#include "tests/support/reference_orders.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using reference::Mode;
using reference::Outcome;

namespace {

// 1F1B on two devices, two microbatches:   d0  F0 F1 B0 B1      d1  F0 B0 F1 B1
Schedule two_devices() {
  Schedule schedule;
  schedule.devices = schedule.stages = schedule.microbatches = 2;
  schedule.placement = Placement(1, 2, {0, 1});
  schedule.replica_of = {0, 0};
  schedule.rows = reference::one_f_one_b_rows(2, 2);
  return schedule;
}

// F 1, B 2, output 100 bytes: a bandwidth of 1e9 bytes/s makes that 100 ns.
StageCosts simple_costs() {
  StageCost cost;
  cost.forward = 1;
  cost.backward = 2;
  cost.activation = 10;
  cost.output = 100;
  cost.weights = 1'000;
  cost.workspace = 3;
  return {{cost, cost}, std::nullopt, std::nullopt};
}

std::vector<Nanoseconds> begins(const Outcome& outcome, std::size_t device) {
  std::vector<Nanoseconds> all;
  for (const auto& cell : outcome.cells[device]) all.push_back(cell.begin);
  return all;
}

using ReferenceSimulatorTimes = std::vector<Nanoseconds>;

}  // namespace

TEST_CASE("reference: without latency the textbook 1F1B comes out") {
  const Outcome run = reference::simulate(two_devices(), simple_costs(), 0, 0, Mode::kOverlapped);
  CHECK(begins(run, 0) == ReferenceSimulatorTimes{0, 1, 4, 7});
  CHECK(begins(run, 1) == ReferenceSimulatorTimes{1, 2, 4, 5});
  CHECK(run.makespan == 9);
  CHECK(reference::span_of(run) == 9);
}

TEST_CASE("reference: overlapped transfers delay only who waits for them") {
  const Outcome run = reference::simulate(two_devices(), simple_costs(), 10, 0, Mode::kOverlapped);
  // d0: F0 0-1, F1 1-2; d1: F0 11-12, B0 12-14, F1 14-15, B1 15-17; d0: B0 24-26, B1 27-29
  CHECK(begins(run, 0) == ReferenceSimulatorTimes{0, 1, 24, 27});
  CHECK(begins(run, 1) == ReferenceSimulatorTimes{11, 12, 14, 15});
}

TEST_CASE("reference: blocking transfers hold both lanes, where the sender places them") {
  const Outcome run = reference::simulate(two_devices(), simple_costs(), 10, 0, Mode::kBlocking);
  // d0's list: F0, send F0, F1, send F1, recv B0, B0, recv B1, B1; d1's: recv F0, F0, recv F1, B0, send B0, F1, B1,
  // send B1 F0 0-1, hop 1-11, d0 F1 and d1 F0 11-12, hop 12-22, B0 22-24, hop 24-34, d0 B0 34-36, d1 F1 34-35, B1
  // 35-37, hop 37-47, d0 B1 47-49
  CHECK(begins(run, 0) == ReferenceSimulatorTimes{0, 11, 34, 47});
  CHECK(begins(run, 1) == ReferenceSimulatorTimes{11, 22, 34, 35});
  CHECK(run.makespan == 49);
}

TEST_CASE("reference: coupled exchanges start when both ends are posted and end before the next cell") {
  const Outcome run = reference::simulate(two_devices(), simple_costs(), 10, 0, Mode::kCoupled);
  // d0 posts {send F0} at 1: d1 has posted {recv F0} at 0: 1-11. F1 11-12. d0 posts {send F1, recv B0} at 12.
  // d1: F0 11-12, B0 12-14, posts {send B0, recv F1} at 14: both 14-24. d0: B0 24-26. d1: F1 24-25, B1 25-27.
  // B1's gradient: d1 posts at 27, d0 at 26: 27-37, d0: B1 37-39.
  CHECK(begins(run, 0) == ReferenceSimulatorTimes{0, 11, 24, 37});
  CHECK(begins(run, 1) == ReferenceSimulatorTimes{11, 12, 24, 25});
  CHECK(run.makespan == 39);
}

TEST_CASE("reference: bandwidth adds to latency and is rounded up") {
  CHECK(reference::serialisation(100, 1'000'000'000) == 100);
  CHECK(reference::serialisation(1, 3) == 333'333'334);
  CHECK(reference::serialisation(0, 3) == 0);
  CHECK(reference::serialisation(7, 0) == 0);
  CHECK(reference::serialisation(Bytes{1} << 40, 50'000'000'000) == 21'990'232'556);
  const Outcome run = reference::simulate(two_devices(), simple_costs(), 10, 1'000'000'000, Mode::kOverlapped);
  CHECK(begins(run, 1)[0] == 111);
}

TEST_CASE("reference: memory counts weights, activations, what has arrived, and workspace") {
  const Outcome run = reference::simulate(two_devices(), simple_costs(), 0, 0, Mode::kOverlapped);
  // d0 holds two activations from 1; the gradient of microbatch 0 is there while B0 runs: 1000 + 20 + 100 + 3.
  CHECK(run.peak_activation == std::vector<Bytes>{20, 10});
  // d1: at time 2 F1's input arrives while B0 runs (its own was used up by F0): 1000 + 10 + 100 + 3.
  CHECK(run.peak_memory == std::vector<Bytes>{1123, 1113});
}

TEST_CASE("reference: a split backward keeps its weight share from the end of I to the end of W") {
  Schedule schedule;
  schedule.devices = schedule.stages = 1;
  schedule.microbatches = 2;
  schedule.placement = Placement(1, 1, {0});
  schedule.replica_of = {0, 0};
  schedule.rows = {{reference::make_op(OpKind::kForward, 0, 0), reference::make_op(OpKind::kInputGrad, 0, 0),
                    reference::make_op(OpKind::kForward, 0, 1), reference::make_op(OpKind::kWeightGrad, 0, 0),
                    reference::make_op(OpKind::kInputGrad, 0, 1), reference::make_op(OpKind::kWeightGrad, 0, 1)}};
  StageCost cost;
  cost.activation = 10;
  cost.weight_grad_held = 4;
  const Outcome run = reference::simulate(schedule, {{cost}, std::nullopt, std::nullopt}, 0, 0, Mode::kOverlapped);
  CHECK(run.peak_activation == std::vector<Bytes>{14});
}

TEST_CASE("reference: pieces cost and hold their share, rounded to the nearest with halves upwards") {
  CHECK(reference::piece_of(5, 2) == 3);
  CHECK(reference::piece_of(4, 3) == 1);
  CHECK(reference::piece_of(5, 3) == 2);
  CHECK(reference::piece_of(5, 1) == 5);
}

TEST_CASE("reference: rows that wait for each other are a deadlock in every mode") {
  Schedule schedule = two_devices();
  std::swap(schedule.rows[1][1], schedule.rows[1][2]);  // d1: F0 F1 B0 B1
  schedule.rows[0] = {reference::make_op(OpKind::kForward, 0, 0), reference::make_op(OpKind::kBackward, 0, 0),
                      reference::make_op(OpKind::kForward, 0, 1), reference::make_op(OpKind::kBackward, 0, 1)};
  for (const Mode mode : {Mode::kOverlapped, Mode::kBlocking, Mode::kCoupled}) {
    CHECK(reference::simulate(schedule, simple_costs(), 0, 0, mode).deadlock);
  }
}
