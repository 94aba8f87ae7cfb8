// Step times of two runs, from recordings whose times are known.
#include "studies/measure/step_times.hpp"

#include "profiler/records/record_file.hpp"
#include "tests/recording/scratch.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

RangePush range_push(std::uint64_t range, std::uint32_t thread, Nanoseconds time, const std::string& text) {
  RangePush push;
  push.range = range;
  push.thread = thread;
  push.time = time;
  push.name = text;
  return push;
}

// A recording of steps one after the other, 1000 ns apart; those of negative time are paused.
std::string recording_of(const Scratch& folder, const std::string& name, const std::vector<Nanoseconds>& steps) {
  RecordFileWriter writer(folder.path(name));
  std::uint64_t range = 0;
  Nanoseconds now = 1'000'000;
  const auto push = [&](std::uint32_t thread, const std::string& text) {
    writer.on(range_push(++range, thread, now, text));
  };
  push(7, "outside");
  for (const Nanoseconds step : steps) {
    const Nanoseconds length = std::abs(step);
    now += 1000;
    if (step < 0) writer.on(SwitchRecord{now - 1, false});
    push(7, "debubble.step:" + std::to_string(range));
    push(7, "debubble.layer:a");
    push(8, "ProfilerStep#3");  // of another thread, inside: part of this step
    writer.on(RangePop{8, now});
    writer.on(RangePop{7, now});
    now += length;
    writer.on(RangePop{7, now});
    if (step < 0) writer.on(SwitchRecord{now + 1, true});
  }
  return folder.path(name);
}

TEST_CASE("step times are those of recorded steps after the warm-up, of all processes") {
  const Scratch folder;
  const std::string first = recording_of(folder, "a.dbrec", {900, 500, 110, 100, -300, 100, 101, 102, 100, -400, 100});
  const std::string second = recording_of(folder, "b.dbrec", {50, 51});
  AttributionRules rules;
  CHECK(settled_step_times({first}, rules) == std::vector<Nanoseconds>{100, 100, 101, 102, 100, 100});
  rules.warm_up_steps = 1;
  CHECK(settled_step_times({first, second}, rules) ==
        std::vector<Nanoseconds>{500, 110, 100, 100, 101, 102, 100, 100, 51});
  CHECK(settled_step_times({folder.path("none.dbrec")}, rules).empty());
}

TEST_CASE("a step whose range is never popped ends where the next begins") {
  const Scratch folder;
  {
    RecordFileWriter writer(folder.path("a.dbrec"));
    for (std::uint64_t k = 0; k < 4; ++k) {
      const std::string name = "ProfilerStep#" + std::to_string(k);
      const auto time = static_cast<Nanoseconds>(100 * k);
      writer.on(range_push(k + 1, 7, time, name));
    }
  }
  AttributionRules rules;
  rules.warm_up_steps = 0;
  CHECK(settled_step_times({folder.path("a.dbrec")}, rules) == std::vector<Nanoseconds>{100, 100, 100});
}

TEST_CASE("the overhead of a run is the change of the median, where both runs have steps enough") {
  CHECK(run_overhead({115, 110, 120, 900}, {100, 90, 100}).ppm == 150'000);
  CHECK(run_overhead({95, 95, 95}, {100, 100, 100}).ppm == -50'000);
  const RunOverhead few = run_overhead({95, 95}, {100, 100, 100});
  CHECK(!few.ppm.has_value());
  CHECK(few.problem == "it takes 3 steps of each run, there were 2 recorded and 3 in the other");
}

}  // namespace
}  // namespace debubble::testing
