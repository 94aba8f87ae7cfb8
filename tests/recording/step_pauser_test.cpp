// Which steps run unrecorded.
#include "profiler/injection/step_pauser.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

using Change = StepPauser::Change;

// One letter a step: '*' recorded, '.' not.
std::string pattern(std::int64_t every, int steps, const std::string& name) {
  StepPauser pauser(every);
  std::string text;
  for (int step = 0; step < steps; ++step) {
    const Change before = pauser.before_push(name + std::to_string(step), 7);
    CHECK(pauser.before_push("aten::mm", 7) == Change::kNone);
    CHECK(pauser.before_push("aten::mm", 8) == Change::kNone);
    CHECK(pauser.after_pop(8) == Change::kNone);
    CHECK(pauser.after_pop(7) == Change::kNone);
    const Change after = pauser.after_pop(7);
    CHECK((before == Change::kPause) == (after == Change::kResume));
    text += before == Change::kPause ? '.' : '*';
  }
  return text;
}

TEST_CASE("every n-th step is left out, but for the first two") {
  CHECK(pattern(5, 12, "debubble.step:") == "****.****.**");
  CHECK(pattern(5, 12, "ProfilerStep#") == "****.****.**");
  CHECK(pattern(2, 6, "debubble.step:") == "***.*.");
  CHECK(pattern(0, 6, "debubble.step:") == "******");
  CHECK(pattern(2, 6, "step ") == "******");
  CHECK(pattern(2, 6, "debubble.step:x") == "******");
}

TEST_CASE("a step inside of a step, or on another thread meanwhile, is none") {
  StepPauser pauser(2);
  for (int step = 0; step < 3; ++step) {
    pauser.before_push("ProfilerStep#1", 7);
    CHECK(pauser.before_push("debubble.step:1", 7) == Change::kNone);
    CHECK(pauser.before_push("debubble.step:1", 8) == Change::kNone);
    CHECK(pauser.after_pop(7) == Change::kNone);
    CHECK(pauser.after_pop(7) == Change::kNone);
  }
  CHECK(pauser.before_push("ProfilerStep#1", 7) == Change::kPause);
}

// A range that is never popped: the step's own pop counts for it, and nothing ends the step.
std::string pattern_with_leak(int leaky, const std::string& name) {
  StepPauser pauser(5);
  std::string text;
  bool paused = false;
  const auto apply = [&](Change change) { paused = change == Change::kNone ? paused : change == Change::kPause; };
  for (int step = 0; step < 15; ++step) {
    apply(pauser.before_push(name + std::to_string(step), 7));
    text += paused ? '.' : '*';
    if (step == leaky) CHECK(pauser.before_push("never popped", 7) == Change::kNone);
    apply(pauser.after_pop(7));
  }
  return text;
}

TEST_CASE("a range that is never popped changes no later step") {
  for (const char* const name : {"debubble.step:", "ProfilerStep#"}) {
    CHECK(pattern_with_leak(2, name) == "****.****.****.");
    CHECK(pattern_with_leak(4, name) == "****.****.****.");
  }
}

TEST_CASE("the setting is a number from 2 on, or all") {
  CHECK(StepPauser::parse("") == 5);
  CHECK(StepPauser::parse("all") == 0);
  CHECK(StepPauser::parse("2") == 2);
  for (const char* const wrong : {"1", "0", "-3", "5x", " 5", "none", "99999999999999999999"}) {
    CHECK_FALSE(StepPauser::parse(wrong).has_value());
  }
}

}  // namespace
}  // namespace debubble
