// Programs that do not behave: killed, forked, with ranges that do not nest. The recording survives and counts.
#include "tests/recording/recorded_run.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

using testing::RecordedRun;
using testing::run_training;
using testing::Tally;

constexpr std::int64_t kWorks = 2 * 3 * 5 + 2;  // of a step of fake_training

TEST_CASE("a killed program leaves what had arrived") {
  const RecordedRun run = run_training("--steps 6 --kill-at 4");
  CHECK(run.status == -9);
  const Tally& tally = run.only();
  CHECK_FALSE(tally.end.complete);
  // The second before the kill is longer than a period of flushing: only the fifth step's adam was not launched yet.
  CHECK(tally.works == 5 * kWorks - 1);
  CHECK(tally.range_names.at("debubble.step:4") == 1);
  CHECK(tally.time_in("debubble.layer:block.0/debubble.phase:F") == 5 * 2 * 13'000);
}

// The leak checker of a forked child looks for threads that exist in its parent only, and says so on stderr.
const char* const kNoLeakCheck = "ASAN_OPTIONS=detect_leaks=0";

// The thread sanitizer cannot follow a child that starts threads.
#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadsAfterFork = false;
#elif defined(__has_feature)
constexpr bool kThreadsAfterFork = !__has_feature(thread_sanitizer);
#else
constexpr bool kThreadsAfterFork = true;
#endif

TEST_CASE("a child forked in the middle writes nothing, waits for nothing and harms nothing") {
  const RecordedRun run = run_training("--steps 4 --fork-at 2", {kNoLeakCheck});
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  const Tally& tally = run.only();
  CHECK(tally.end.complete);
  CHECK(tally.works == 4 * kWorks);
  CHECK(tally.range_names.count("in the child") == 0);
  CHECK(tally.kernels.count("of the child") == 0);
}

TEST_CASE("a child forked before the GPU is used records into a file of its own") {
  if (!kThreadsAfterFork) {
    MESSAGE("SKIPPED: the thread sanitizer cannot run this");
    return;
  }
  const RecordedRun run = run_training("--steps 2 --fork-first", {kNoLeakCheck});
  CHECK(run.status == 0);
  REQUIRE(run.files.size() == 2);
  const Tally& first = run.files.begin()->second;
  const Tally& second = run.files.rbegin()->second;
  const Tally& parent = first.works == 0 ? first : second;
  const Tally& child = first.works == 0 ? second : first;
  CHECK(parent.range_names.at("before the fork") == 1);
  CHECK(parent.pushes == 1);
  CHECK(parent.end.complete);
  CHECK(child.works == 2 * kWorks);
  CHECK(child.range_names.count("before the fork") == 0);
  CHECK(child.end.complete);
}

TEST_CASE("ranges that are never popped and pops without a range disturb no layer") {
  for (const char* const flags :
       {"--steps 3 --unbalanced --hooks", "--steps 3 --unbalanced --hooks --style autograd"}) {
    INFO(std::string(flags));
    const RecordedRun run = run_training(flags);
    CHECK(run.status == 0);
    const Tally& tally = run.only();
    CHECK(tally.works == 3 * kWorks);
    CHECK(tally.losses.at("unmatched_pops") == 3 * 2);
    CHECK(tally.losses.at("crossed_ranges") >= 3);
    CHECK(tally.unknown_links == 0);
    std::int64_t layers = 0;
    for (const auto& [path, time] : tally.time_by_path()) {
      if (contains(path, "debubble.layer:block.")) layers += time;
    }
    const bool explicit_style = !contains(std::string(flags), "autograd");
    const std::int64_t forward = 13'000 + 14'000 + 15'000;
    const std::int64_t backward = explicit_style ? 24'000 + 26'000 + 28'000 : 0;
    CHECK(layers == 3 * 2 * (forward + backward));
  }
}

TEST_CASE("ranges that are never popped do not end the pauses") {
  // Each step's own pop ends what was never popped instead, so a pause ends where the next step begins.
  const RecordedRun run = run_training("--steps 21 --unbalanced --hooks", {"DEBUBBLE_RECORD_STEPS=5"});
  CHECK(run.status == 0);
  CHECK(run.only().switches == std::vector<bool>{false, true, false, true, false, true, false, true});
  CHECK(run.only().works == 17 * kWorks);
}

TEST_CASE("no thread of the recording takes a signal that the program waits for") {
  const RecordedRun run = run_training("--steps 2 --sigwait");
  CHECK(run.status == 0);
  CHECK(run.only().works == 2 * kWorks);
  CHECK(run.only().end.complete);
}

TEST_CASE("odd ranges of NVTX are taken as they come") {
  const RecordedRun run = run_training("--steps 2 --odd-ranges");
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  const Tally& tally = run.only();
  CHECK(tally.range_names.count("ncclAllReduce") == 0);
  CHECK(tally.range_names.count("a mark") == 0);
  CHECK(tally.range_names.count("wide") == 0);
  CHECK(tally.range_names.at("registered text") == 2);
  CHECK(tally.time_in("registered text/crossing") == 2 * 200);
  CHECK(tally.losses.at("crossed_ranges") == 2);
  CHECK(tally.losses.at("process_ranges") == 2);
  CHECK(tally.losses.count("unmatched_pops") == 0);
  CHECK(tally.pushes == tally.pops);
}

}  // namespace
}  // namespace debubble
