// What `lower` makes of schedules that are not whole: an InputError that says what is wrong, never a crash.
#include "sim/engine/program.hpp"
#include "tests/support/test.hpp"

using namespace debubble;

namespace {

Schedule two_stages() {
  Schedule schedule;
  schedule.name = "two";
  schedule.devices = schedule.stages = 2;
  schedule.microbatches = 1;
  schedule.placement = loop_placement(2, 2);
  schedule.replica_of = {0};
  schedule.rows = {{{OpKind::kForward, false, 0, 0}, {OpKind::kBackward, false, 0, 0}},
                   {{OpKind::kForward, false, 1, 0}, {OpKind::kBackward, false, 1, 0}}};
  return schedule;
}

std::string first_code(const Schedule& schedule) {
  try {
    (void)lower(schedule);
  } catch (const InputError& error) {
    return error.diagnostics().at(0).code;
  }
  return "none";
}

}  // namespace

TEST_CASE("a whole schedule is lowered to one node per op") {
  const auto lowered = lower(two_stages());
  CHECK_EQ(std::get<Program>(lowered).nodes.size(), 4);
}

TEST_CASE("parts that disagree are refused before anything is read") {
  Schedule schedule = two_stages();
  schedule.replica_of.clear();
  CHECK_EQ(first_code(schedule), "T001");
  schedule = two_stages();
  schedule.replica_of = {7};
  CHECK_EQ(first_code(schedule), "T001");
  schedule = two_stages();
  schedule.rows.pop_back();
  CHECK_EQ(first_code(schedule), "T001");
  schedule = two_stages();
  schedule.placement = Placement(1, 2, {0, 5});
  CHECK_EQ(first_code(schedule), "T001");
}

TEST_CASE("a schedule far too large for its ops takes no memory for it") {
  Schedule schedule = two_stages();
  schedule.stages = 1'000'000;
  schedule.placement = loop_placement(2, 1'000'000);
  CHECK_EQ(first_code(schedule), "T004");
}

TEST_CASE("missing, doubled and misplaced ops are refused") {
  Schedule schedule = two_stages();
  schedule.rows[1].pop_back();
  CHECK_EQ(first_code(schedule), "T004");
  schedule = two_stages();
  schedule.rows[0].push_back({OpKind::kForward, false, 0, 0});
  CHECK_EQ(first_code(schedule), "T003");
  schedule = two_stages();
  schedule.rows[0].push_back({OpKind::kForward, false, 1, 0});
  CHECK(first_code(schedule) != "none");
}

TEST_CASE("rows that wait for each other are a deadlock, not an error") {
  Schedule schedule = two_stages();
  schedule.microbatches = 2;
  schedule.replica_of = {0, 0};
  schedule.rows = {{{OpKind::kForward, false, 0, 0},
                    {OpKind::kBackward, false, 0, 0},
                    {OpKind::kForward, false, 0, 1},
                    {OpKind::kBackward, false, 0, 1}},
                   {{OpKind::kForward, false, 1, 1},
                    {OpKind::kForward, false, 1, 0},
                    {OpKind::kBackward, false, 1, 0},
                    {OpKind::kBackward, false, 1, 1}}};
  const auto lowered = lower(schedule);
  REQUIRE(std::holds_alternative<Deadlock>(lowered));
  CHECK_EQ(std::get<Deadlock>(lowered).cycle.size(), 2);
}
