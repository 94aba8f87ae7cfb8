#include "sim/rows/check.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

// Rows as words: "0F0 0B0 (0F1;1B1)".
std::vector<Op> row(const std::string& words) {
  std::vector<Op> ops;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == '(') ops.push_back({OpKind::kForward, true, -1, -1});
    if (words[i] < '0' || words[i] > '9') continue;
    const bool first_of_pair = !ops.empty() && ops.back().stage == -1;
    if (first_of_pair) ops.pop_back();
    const auto kind = static_cast<OpKind>(std::string("FBIW").find(words[i + 1]));
    ops.push_back({kind, first_of_pair, words[i] - '0', words[i + 2] - '0'});
    i += 2;
  }
  return ops;
}

std::string deadlock_of(const std::vector<std::string>& rows, int stages, int microbatches) {
  Schedule schedule;
  schedule.devices = static_cast<int>(rows.size());
  schedule.stages = stages;
  schedule.microbatches = microbatches;
  for (const std::string& words : rows) schedule.rows.push_back(row(words));
  const auto deadlock = find_deadlock(schedule);
  return deadlock ? to_string(*deadlock) : "";
}

TEST_CASE("rows that can run have no deadlock") {
  CHECK(deadlock_of({"0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"}, 2, 2) == "");
  CHECK(deadlock_of({"0F0 0F1 0I0 0W0 0B1", "1F0 1I0 1F1 1B1 1W0"}, 2, 2) == "");
}

TEST_CASE("two devices that wait for each other are named with what they wait at and for") {
  CHECK(deadlock_of({"0F0 0B0 0F1 0B1", "1F1 1F0 1B0 1B1"}, 2, 2) ==
        "device 0 waits at 0B0 (position 1) for 1B0 on device 1; "
        "device 1 waits at 1F1 (position 0) for 0F1 on device 0");
}

TEST_CASE("the cycle is named without the devices that merely wait for it") {
  CHECK(deadlock_of({"0F0 0B0", "1F0 1B0", "2F1 2F0 2B0 2B1", "3F0 3B0 3F1 3B1"}, 4, 2) == "");
  CHECK(deadlock_of({"0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1", "2F1 2F0 2B0 2B1"}, 3, 2) ==
        "device 1 waits at 1B0 (position 1) for 2B0 on device 2; "
        "device 2 waits at 2F1 (position 0) for 1F1 on device 1");
}

TEST_CASE("a device can wait for itself over others or directly") {
  CHECK(deadlock_of({"1F0 0F0 0B0 1B0"}, 2, 1) == "device 0 waits at 1F0 (position 0) for 0F0 on device 0");
  CHECK(deadlock_of({"2F0 0F0 2B0 0B0", "1F0 1B0"}, 3, 1) ==
        "device 0 waits at 2F0 (position 0) for 1F0 on device 1; "
        "device 1 waits at 1F0 (position 0) for 0F0 on device 0");
}

TEST_CASE("a pair needs the inputs of both members, whichever comes first") {
  // 0B0 needs 1B0, which needs 1F0; the pair may not start with F alone.
  CHECK(deadlock_of({"0F0 (0F1;0B0) 0B1", "1F0 1B0 1F1 1B1"}, 2, 2) == "");
  CHECK(deadlock_of({"0F0 (0F1;0B0) 0B1", "1F0 1F1 1B0 1B1"}, 2, 2) ==
        "device 0 waits at 0B0 (position 2) for 1B0 on device 1; "
        "device 1 waits at 1F1 (position 1) for 0F1 on device 0");
  CHECK(deadlock_of({"0F0 0F1 0B0 0B1", "1F0 1F1 1B0 1B1"}, 2, 2) == "");
}

TEST_CASE("members of one pair do not wait for each other") {
  CHECK(deadlock_of({"(0B0;0F0)"}, 1, 1) == "");
  CHECK(deadlock_of({"0B0 0F0"}, 1, 1) == "device 0 waits at 0B0 (position 0) for 0F0 on device 0");
}

TEST_CASE("a split backward passes its gradient on from I, not from W") {
  CHECK(deadlock_of({"0F0 0I0 0F1 0B1 0W0", "1F0 1I0 1F1 1W0 1B1"}, 2, 2) == "");
  CHECK(deadlock_of({"0F0 0B0 0F1 0B1", "1F0 1F1 1W0 1I0 1B1"}, 2, 2) ==
        "device 0 waits at 0B0 (position 1) for 1I0 on device 1; "
        "device 1 waits at 1F1 (position 1) for 0F1 on device 0");
}

TEST_CASE("an input that no row makes is not waited for") { CHECK(deadlock_of({"1F0 1B0"}, 2, 1) == ""); }

TEST_CASE("several devices that wait for one op all run on when it is done") {
  // 1F0 is needed by 2F0 on device 2 and by 1B0, in its own row; every op wakes all that wait for it.
  CHECK(deadlock_of({"0F0 0B0", "1F0 1B0", "2F0 2B0"}, 3, 1) == "");
}

TEST_CASE("a long chain of devices is followed without recursion") {
  constexpr int kDevices = 200'000;
  Schedule schedule;
  schedule.devices = kDevices;
  schedule.stages = kDevices;
  schedule.microbatches = 1;
  for (std::int32_t s = 0; s < kDevices; ++s) {
    schedule.rows.push_back({Op{OpKind::kForward, false, s, 0}, Op{OpKind::kBackward, false, s, 0}});
  }
  CHECK_FALSE(find_deadlock(schedule).has_value());
  std::swap(schedule.rows.back()[0], schedule.rows.back()[1]);
  const auto deadlock = find_deadlock(schedule);
  REQUIRE(deadlock.has_value());
  CHECK(to_string(*deadlock) == "device 199999 waits at 199999B0 (position 0) for 199999F0 on device 199999");
}

}  // namespace
}  // namespace debubble
