#include "sim/rows/check.hpp"

#include "schedules/catalog.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

constexpr auto F = OpKind::kForward;
constexpr auto B = OpKind::kBackward;
constexpr auto I = OpKind::kInputGrad;
constexpr auto W = OpKind::kWeightGrad;

Op op(std::int32_t stage, OpKind kind, std::int32_t microbatch) { return Op{kind, false, stage, microbatch}; }
Op pair(std::int32_t stage, OpKind kind, std::int32_t microbatch) { return Op{kind, true, stage, microbatch}; }

// One replica, stage s on device s, with these rows.
Schedule looped(std::vector<std::vector<Op>> rows, int microbatches = 1) {
  Schedule schedule;
  schedule.devices = static_cast<int>(rows.size());
  schedule.stages = schedule.devices;
  schedule.microbatches = microbatches;
  schedule.placement = loop_placement(schedule.devices, schedule.stages);
  schedule.replica_of.assign(static_cast<std::size_t>(microbatches), 0);
  schedule.rows = std::move(rows);
  return schedule;
}

// "T003 1:2 (0:0) message | help", one line per problem.
std::string problems_of(const Schedule& schedule) {
  std::string text;
  for (const ScheduleProblem& p : find_problems(schedule)) {
    text += p.code + " " + std::to_string(p.device) + ":" + std::to_string(p.position);
    if (p.other_device >= 0)
      text += " (" + std::to_string(p.other_device) + ":" + std::to_string(p.other_position) + ")";
    text += " " + p.message + (p.help.empty() ? "" : " | " + p.help) + "\n";
  }
  return text;
}

TEST_CASE("a complete schedule has no problems") {
  CHECK(problems_of(looped({{op(0, F, 0), op(0, B, 0)}, {op(1, F, 0), op(1, I, 0), op(1, W, 0)}})) == "");
}

TEST_CASE("every schedule of the catalog is complete and free of deadlock") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    CAPTURE(entry.name);
    const Schedule schedule = build_schedule(entry.name, {.devices = 4, .microbatches = 8, .chunks = 0, .params = {}});
    CHECK(problems_of(schedule) == "");
    CHECK_FALSE(find_deadlock(schedule).has_value());
  }
}

TEST_CASE("an op that stands twice is reported at its second place, with the first") {
  CHECK(problems_of(looped({{op(0, F, 0), op(0, B, 0), op(0, F, 0), op(0, F, 0)}})) ==
        "T003 0:2 (0:0) 0F0 is in the schedule twice | every op runs exactly once\n"
        "T003 0:3 (0:0) 0F0 is in the schedule twice | every op runs exactly once\n");
}

TEST_CASE("numbers out of range are reported and nothing else is said about those ops") {
  CHECK(problems_of(looped({{op(0, F, 0), op(1, F, 0), op(0, B, 0), op(0, F, 1), op(-1, W, 0), op(0, I, -7)}})) ==
        "T002 0:1 1F0 names stage 1, and there is 1 stage | stage numbers run from 0 to 0\n"
        "T002 0:3 0F1 names microbatch 1, and there is 1 microbatch | microbatch numbers run from 0 to 0\n"
        "T002 0:4 -1W0 names stage -1, and there is 1 stage | stage numbers run from 0 to 0\n"
        "T002 0:5 0I-7 names microbatch -7, and there is 1 microbatch | microbatch numbers run from 0 to 0\n");
}

TEST_CASE("missing ops are reported last, on the device where they belong") {
  CHECK(problems_of(looped({{op(0, B, 0)}, {op(1, F, 0), op(1, F, 1)}}, 2)) ==
        "T004 0:-1 0F0 is missing, though the backward of stage 0 runs on microbatch 0\n"
        "T004 1:-1 the backward after 1F0 is missing: neither 1B0, nor 1I0 and 1W0 | add 1B0, or 1I0 and "
        "1W0, after 1F0\n"
        "T004 0:-1 stage 0 never runs microbatch 1: 0F1 and its backward are missing\n"
        "T004 1:-1 the backward after 1F1 is missing: neither 1B1, nor 1I1 and 1W1 | add 1B1, or 1I1 and "
        "1W1, after 1F1\n");
}

TEST_CASE("half a backward is reported, whichever half it is") {
  CHECK(problems_of(looped({{op(0, F, 0), op(0, I, 0), op(0, F, 1), op(0, W, 1)}}, 2)) ==
        "T004 0:1 0I0 is half a backward: 0W0 is missing | run both I and W, or B alone\n"
        "T004 0:3 0W1 is half a backward: 0I1 is missing | run both I and W, or B alone\n");
}

TEST_CASE("a backward that is both whole and split is refused") {
  CHECK(problems_of(looped({{op(0, F, 0), op(0, B, 0), op(0, I, 0), op(0, W, 0)}})) ==
        "T007 0:2 (0:1) 0I0 repeats a part of 0B0, the whole backward | run either B, or I and W\n"
        "T007 0:3 (0:1) 0W0 repeats a part of 0B0, the whole backward | run either B, or I and W\n");
}

TEST_CASE("B and W without I look like PyTorch's older grammar, and the help says so") {
  CHECK(problems_of(looped({{op(0, F, 0), op(0, B, 0), op(0, W, 0)}})) ==
        "T007 0:2 (0:1) 0W0 repeats a part of 0B0, the whole backward | B is the whole backward, I and W its halves; "
        "older PyTorch tables write B for I and BW for B: rename B to I, then BW to B\n");
}

TEST_CASE("an op on another device than its stage's is reported, with the forward that shows where it belongs") {
  CHECK(
      problems_of(looped({{op(0, F, 0), op(1, B, 0), op(0, B, 0)}, {op(1, F, 0)}})) ==
      "T008 0:1 (1:0) 1B0 is on device 0, but stage 1 of microbatch 0 belongs to device 1 | a microbatch runs forward "
      "and backward of a stage on the one device that holds it\n");
}

TEST_CASE("microbatches of different replicas belong to different devices") {
  Schedule schedule = looped(
      {{op(0, F, 0), op(0, B, 0), op(1, F, 1), op(1, B, 1)}, {op(1, F, 0), op(1, B, 0), op(0, F, 1), op(0, B, 1)}}, 2);
  schedule.placement = Placement(2, 2, {0, 1, 1, 0});
  schedule.replica_of = {0, 1};
  CHECK(problems_of(schedule) == "");
  schedule.replica_of = {0, 0};
  CHECK(find_problems(schedule).size() == 4);
}

TEST_CASE("a device that needs its own later op is reported, for every kind of need") {
  CHECK(problems_of(looped({{op(0, B, 0), op(0, F, 0)}})) ==
        "T009 0:0 (0:1) 0B0 needs 0F0, which comes later in the same row | a device runs its row strictly in order\n");
  CHECK(problems_of(looped({{op(0, F, 0), op(0, W, 0), op(0, I, 0)}})) ==
        "T009 0:1 (0:2) 0W0 needs 0I0, which comes later in the same row | a device runs its row strictly in order\n");
  Schedule two_stages = looped({{op(1, F, 0), op(0, F, 0), op(0, B, 0), op(1, B, 0)}});
  two_stages.stages = 2;
  two_stages.placement = loop_placement(1, 2);
  CHECK(problems_of(two_stages) ==
        "T009 0:0 (0:1) 1F0 needs 0F0, which comes later in the same row | a device runs its row strictly in order\n"
        "T009 0:2 (0:3) 0B0 needs 1B0, which comes later in the same row | a device runs its row strictly in order\n");
}

TEST_CASE("within an overlapped pair neither op may use what the other makes") {
  CHECK(problems_of(looped({{pair(0, F, 0), op(0, B, 0)}})) ==
        "T010 0:1 (0:0) 0B0 needs 0F0, with which it is paired | the members of an overlapped pair run together: pair "
        "ops of different microbatches\n");
  CHECK(find_problems(looped({{pair(0, B, 0), op(0, F, 0)}})).size() == 1);
  CHECK(find_problems(looped({{op(0, B, 0), op(0, F, 0)}})).size() == 1);
  CHECK(find_problems(looped({{pair(0, B, 0), op(0, F, 1), op(0, F, 0), op(0, B, 1)}}, 2)).size() == 1);
  CHECK(problems_of(looped({{op(0, F, 0), pair(0, F, 1), op(0, B, 0), op(0, B, 1)}}, 2)) == "");
}

TEST_CASE("a pair of one or of three is refused") {
  CHECK(problems_of(looped({{op(0, F, 0), pair(0, B, 0)}})) ==
        "T010 0:1 0B0 is paired with the next op, and it is the last of its row | an overlapped pair is two ops\n");
  CHECK(problems_of(looped({{pair(0, F, 0), pair(0, B, 0), op(0, F, 1), op(0, B, 1)}}, 2)) ==
        "T010 0:1 (0:0) 0B0 is in a pair and paired with a third op | an overlapped pair is two ops\n");
}

TEST_CASE("the parts of a schedule must agree with each other") {
  Schedule schedule = looped({{op(0, F, 0), op(0, B, 0)}});
  schedule.devices = 2;
  CHECK(problems_of(schedule) == "T001 -1:-1 1 row for 2 devices\n");
  schedule = looped({{op(0, F, 0), op(0, B, 0)}});
  schedule.replica_of = {3};
  CHECK(problems_of(schedule) == "T001 -1:-1 microbatch 0 belongs to replica 3 of 1\n");
  schedule.replica_of = {};
  CHECK(problems_of(schedule) == "T001 -1:-1 the replica of 0 microbatch pieces is known, and there are 1\n");
  schedule = looped({{op(0, F, 0), op(0, B, 0)}});
  schedule.placement = Placement(1, 1, {});
  CHECK(problems_of(schedule) == "T001 -1:-1 the placement is of 1 replica of 1 stage, and the schedule has 1 stage\n");
  schedule.placement = Placement(1, 1, {5});
  CHECK(problems_of(schedule) == "T001 -1:-1 stage 0 of replica 0 is on device 5 of 1\n");
}

TEST_CASE("an empty value is refused without a crash") {
  CHECK(problems_of(Schedule{}) ==
        "T001 -1:-1 a schedule needs at least one device, stage, microbatch and piece; this one has 0, 0, 0 and 1\n"
        "T001 -1:-1 the placement is of 0 replicas of 0 stages, and the schedule has 0 stages\n");
  CHECK_FALSE(find_deadlock(Schedule{}).has_value());
}

TEST_CASE("huge numbers cost neither time nor memory") {
  constexpr std::int32_t kHuge = std::numeric_limits<std::int32_t>::max();
  Schedule schedule = looped({{op(kHuge - 1, F, kHuge - 1), op(kHuge, B, kHuge), op(-kHuge, W, kHuge - 2)}});
  schedule.stages = kHuge;
  schedule.microbatches = kHuge;
  schedule.pieces = kHuge;
  const auto problems = find_problems(schedule);
  CHECK(problems.size() == 5);
  CHECK(problems.back().code == "T004");
  CHECK(problems.back().message ==
        "3 ops cannot be a whole schedule of 2147483647 stages and 4611686014132420609 microbatches, which takes at "
        "least two for each stage and microbatch");
  CHECK_FALSE(find_deadlock(schedule).has_value());
  schedule.stages = -kHuge;
  CHECK(find_problems(schedule).size() == 6);
}

}  // namespace
}  // namespace debubble
