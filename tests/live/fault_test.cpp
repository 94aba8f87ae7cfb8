// What goes wrong on purpose gets the right report; and what --fault refuses.
#include "live/backends.hpp"
#include "tests/live/agreement.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

live::LiveRequest faulty(const Schedule& schedule, const std::string& fault, P2p p2p = P2p::kOverlapped) {
  StageCosts costs = split_costs(schedule, 1, 1, 1);
  for (StageCost& cost : costs.stages) cost.output = 1000;
  live::LiveRequest request = request_for(schedule, costs, {}, p2p);
  request.faults.push_back(live::parse_fault(fault, schedule));
  return request;
}

std::string wrong_data(const live::LiveRequest& request) {
  try {
    (void)live::run_on_cpu(request, {});
  } catch (const live::WrongDataError& error) {
    return error.what();
  }
  return "";
}

std::string refusal(const std::string& fault, const Schedule& schedule) {
  const Diagnostic problem = first_problem([&] { (void)live::parse_fault(fault, schedule); });
  return problem.code.empty() ? "" : problem.code + " " + problem.message;
}

}  // namespace

TEST_CASE("a lost message is told from a deadlock, with who waits for what") {
  for (const P2p p2p : {P2p::kOverlapped, P2p::kBlocking, P2p::kCoupled}) {
    CAPTURE(name_of(p2p));
    const Schedule schedule = build("1f1b", 3, 4);
    const live::LiveResult result = live::run_on_cpu(faulty(schedule, "drop=1F2", p2p), {});
    REQUIRE(result.stall.has_value());
    const Stall& stall = *result.stall;
    CHECK_EQ(stall.cause, "a message was lost");
    REQUIRE_EQ(stall.devices.size(), 3);
    CHECK_EQ(stall.devices[2].waits_for, "the activation 1F2 of device 1, which device 1 has sent");
    if (p2p == P2p::kOverlapped) CHECK_EQ(to_string(stall.devices[2].op), "2F2");  // else the lane stands before it
    CHECK(result.iterations.empty());
  }
}

TEST_CASE("a lost gradient and one lost in a later iteration are found too") {
  const Schedule schedule = build("gpipe", 2, 3);
  const live::LiveResult result = live::run_on_cpu(faulty(schedule, "drop=1B1"), {});
  REQUIRE(result.stall.has_value());
  CHECK_EQ(result.stall->devices[0].waits_for, "the gradient 1B1 of device 1, which device 1 has sent");
  CHECK(result.stall->devices[1].finished);
}

TEST_CASE("rows that wait for each other are a deadlock") {
  Schedule schedule = build("1f1b", 2, 2);
  // Device 0 wants the gradient of microbatch 1 first, device 1 makes it last.
  schedule.rows[0] = {{OpKind::kForward, false, 0, 0},
                      {OpKind::kBackward, false, 0, 0},
                      {OpKind::kForward, false, 0, 1},
                      {OpKind::kBackward, false, 0, 1}};
  schedule.rows[1] = {{OpKind::kForward, false, 1, 0},
                      {OpKind::kForward, false, 1, 1},
                      {OpKind::kBackward, false, 1, 0},
                      {OpKind::kBackward, false, 1, 1}};
  const live::LiveResult result =
      live::run_on_cpu(request_for(schedule, toy_costs(schedule, 1, 2), {}, P2p::kOverlapped), {});
  REQUIRE(result.stall.has_value());
  CHECK_EQ(result.stall->cause, "deadlock");
  CHECK_EQ(result.stall->devices[0].position, 1);
  CHECK_EQ(result.stall->devices[0].waits_for, "the gradient 1B0 of device 1, which device 1 has not reached");
  CHECK_EQ(result.stall->devices[1].position, 1);
  CHECK_EQ(result.stall->devices[1].waits_for, "the activation 0F1 of device 0, which device 0 has not reached");
}

TEST_CASE("one changed bit is found by the op that would have used it") {
  const Schedule schedule = build("1f1b", 3, 4);
  const std::string text = wrong_data(faulty(schedule, "corrupt=1F2"));
  CHECK(text.starts_with("2F2 on device 2 expected the activation 1F2 with checksum "));
  CHECK(contains(text, "got it with changed bytes"));
  live::LiveRequest empty = faulty(schedule, "corrupt=2B1");
  for (StageCost& cost : empty.costs.stages) cost.output = 0;
  const std::string chain = wrong_data(empty);
  CHECK(chain.starts_with("1B1 on device 1 expected the gradient 2B1 (chain "));
  CHECK(contains(chain, "and got a tensor of unknown history"));
}

TEST_CASE("ops in a wrong order give a right result or a report, never a wrong result") {
  const Schedule schedule = build("1f1b", 3, 4);
  int stuck = 0;
  int wrong = 0;
  int fine = 0;
  for (const P2p p2p : {P2p::kOverlapped, P2p::kBlocking, P2p::kCoupled}) {
    for (const auto& row : schedule.rows) {
      for (std::size_t k = 0; k + 1 < row.size(); ++k) {
        const live::LiveRequest request = faulty(schedule, "swap=" + to_string(row[k]), p2p);
        CAPTURE(to_string(row[k]));
        try {
          const live::LiveResult result = live::run_on_cpu(request, {});
          CHECK_NE(result.stall.has_value(), result.iterations.size() == 1);
          ++(result.stall ? stuck : fine);
        } catch (const live::WrongDataError& error) {
          CHECK(contains(std::string(error.what()), "which has not run yet"));
          ++wrong;
        }
      }
    }
  }
  CHECK(stuck > 0);
  CHECK(wrong > 0);
  CHECK(fine > 0);
}

// E002 of a run whose faults are each fine alone.
std::string swaps_refused(const Schedule& schedule, const std::vector<std::string>& faults) {
  live::LiveRequest request = faulty(schedule, faults.front());
  for (std::size_t k = 1; k < faults.size(); ++k) request.faults.push_back(live::parse_fault(faults[k], schedule));
  const Diagnostic problem = first_problem([&] { (void)live::run_on_cpu(request, {}); });
  return problem.code.empty() ? "" : problem.code + " " + problem.place + ": " + problem.message;
}

TEST_CASE("a swap that an earlier swap leaves nothing to swap is refused") {
  const Schedule schedule = build("1f1b", 2, 2);
  CHECK_EQ(order_of(schedule, 0), "F0 F1 B0 B1");
  CHECK_EQ(swaps_refused(schedule, {"swap=0B0", "swap=0B0"}), "E002 --fault swap=0B0: 0B0 is the last of its row");
  CHECK_EQ(swaps_refused(schedule, {"swap=0F1", "swap=0F1", "swap=0F1"}),
           "E002 --fault swap=0F1: 0F1 is the last of its row");
  Schedule pairs = build("1f1b", 2, 3);
  CHECK_EQ(order_of(pairs, 0), "F0 F1 B0 F2 B1 B2");
  pairs.rows[0][2].paired_with_next = true;  // 0B0 with 0F2
  CHECK_EQ(swaps_refused(pairs, {"swap=0F0", "swap=0F0"}),
           "E002 --fault swap=0F0: 0F0 or the op after it is in an overlapped pair");
}

TEST_CASE("swaps that undo each other leave the run as it was") {
  const Schedule schedule = build("1f1b", 2, 2);
  live::LiveRequest request = faulty(schedule, "swap=0F0");
  request.faults.push_back(live::parse_fault("swap=0F1", schedule));  // 0F1 stands before 0F0 now
  const live::LiveResult twice = live::run_on_cpu(request, {});
  request.faults.clear();
  const live::LiveResult same = live::run_on_cpu(request, {});
  REQUIRE_EQ(twice.iterations.size(), 1);
  CHECK_EQ(difference(twice.iterations[0].timeline, same.iterations[0].timeline), "");
}

TEST_CASE("a slow device takes its factor longer, and the others wait for it") {
  const Schedule schedule = build("1f1b", 3, 4);
  live::LiveRequest request = faulty(schedule, "slow=1:1.5");
  const live::LiveResult slow = live::run_on_cpu(request, {});
  request.costs.stages[1].forward = request.costs.stages[1].forward * 3 / 2;
  request.costs.stages[1].backward = request.costs.stages[1].backward * 3 / 2;
  request.faults.clear();
  const live::LiveResult same = live::run_on_cpu(request, {});
  REQUIRE_EQ(slow.iterations.size(), 1);
  CHECK_EQ(difference(slow.iterations[0].timeline, same.iterations[0].timeline), "");
}

TEST_CASE("a process to kill is a matter of the mpi backend") {
  const Schedule schedule = build("1f1b", 2, 2);
  CHECK_EQ(first_problem([&] { (void)live::run_on_cpu(faulty(schedule, "kill=1F1"), {}); }).code, "E003");
}

TEST_CASE("faults are read") {
  const Schedule schedule = build("1f1b", 2, 2);
  const live::Fault slow = live::parse_fault("slow=1:1.25", schedule);
  CHECK(slow.kind == live::Fault::Kind::kSlow);
  CHECK_EQ(slow.device, 1);
  CHECK_EQ(slow.factor, 1.25);
  const live::Fault drop = live::parse_fault("drop=0F1", schedule);
  CHECK(drop.kind == live::Fault::Kind::kDrop);
  CHECK_EQ(drop.device, 0);
  CHECK_EQ(to_string(drop.op), "0F1");
}

TEST_CASE("faults that cannot be are refused with the reason") {
  const Schedule schedule = build("1f1b", 2, 2);
  CHECK_EQ(refusal("slow", schedule), "C006 there is no \"=\" in it");
  CHECK_EQ(refusal("corupt=0F1", schedule), "C006 \"corupt\" is not a fault; did you mean \"corrupt\"?");
  CHECK_EQ(refusal("slow=1", schedule), "C006 \"1\" is not DEVICE:FACTOR");
  CHECK_EQ(refusal("slow=1:0", schedule), "C012 the factor must be above 0 and at most 1000");
  CHECK_EQ(refusal("slow=1:1001", schedule), "C012 the factor must be above 0 and at most 1000");
  CHECK_EQ(refusal("slow=1:inf", schedule), "C006 \"1:inf\" is not DEVICE:FACTOR");
  CHECK_EQ(refusal("slow=2:2", schedule), "E002 there is no device 2");
  CHECK_EQ(refusal("drop=F", schedule), "C006 \"F\" is not an op");
  CHECK_EQ(refusal("drop=0F1x", schedule), "C006 \"0F1x\" is not an op");
  CHECK_EQ(refusal("drop=0F9", schedule), "E002 the schedule has no op 0F9");
  CHECK_EQ(refusal("drop=1F0", schedule), "E002 the output of 1F0 does not travel to another device");
  CHECK_EQ(refusal("corrupt=0B0", schedule), "E002 the output of 0B0 does not travel to another device");
  CHECK_EQ(refusal("swap=1B1", schedule), "E002 1B1 is the last of its row");
  Schedule pairs = schedule;
  pairs.rows[0][1].paired_with_next = true;  // 0F1 with the 0B0 behind it
  for (const char* op : {"0F0", "0F1", "0B0"}) {
    CHECK_EQ(refusal(std::string("swap=") + op, pairs),
             std::string("E002 ") + op + " or the op after it is in an overlapped pair");
  }
}
