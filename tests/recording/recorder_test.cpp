// The recorder in this very process, as the built-in workload uses it.
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "profiler/cupti/recorder.hpp"
#include "tests/recording/fake_cupti.hpp"
#include "tests/recording/recorded_run.hpp"
#include "tests/recording/scratch.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

using testing::FakeCupti;
using testing::find_fake_cupti;
using testing::Scratch;
using testing::Tally;

Tally read_tally(const std::string& path) {
  Tally tally;
  tally.end = read_record_file(path, tally);
  return tally;
}

// The fake is found through the environment, as a program's driver would be.
FakeCupti fake() {
  setenv("DEBUBBLE_CUPTI", DEBUBBLE_FAKE_CUPTI, 1);
  return find_fake_cupti();
}

TEST_CASE("one recorder after another records the work of its time, and nothing in between") {
  const Scratch scratch;
  for (int round = 0; round < 3; ++round) {
    const std::string path = scratch.path(std::to_string(round) + ".dbrec");
    Recorder recorder({.file = path, .cupti_library = DEBUBBLE_FAKE_CUPTI});
    const FakeCupti gpu = fake();
    REQUIRE(static_cast<bool>(gpu.launch != nullptr));
    recorder.push("layer");
    gpu.launch("inside", 1000, 1500, 7);
    recorder.flush();
    CHECK(read_tally(path).works == 1);  // already on disk
    recorder.pop();
    recorder.pause();
    recorder.push("unrecorded");
    gpu.launch("unrecorded", 2000, 2500, 7);
    recorder.pop();
    recorder.resume();
    gpu.launch("outside", 3000, 3100, 7);
    gpu.overhead(4U << 16U, 1, 2);
    recorder.fact("round", std::to_string(round));
    const RecorderSummary summary = recorder.stop();
    gpu.launch("after", 1, 2, 7);
    CHECK(summary.kernels == 2);
    CHECK(summary.launches == 2);
    CHECK(summary.dropped == 0);
    CHECK_FALSE(summary.write_failed);
    const Tally tally = read_tally(path);
    CHECK(tally.end.complete);
    CHECK(tally.time_in("layer") == 500);
    CHECK(tally.works == 2);
    CHECK(tally.switches == std::vector<bool>{false, true});
    CHECK(tally.facts.at("round") == std::to_string(round));
  }
}

TEST_CASE("a second recorder at the same time is refused") {
  const Scratch scratch;
  Recorder first({.file = scratch.path("a.dbrec"), .cupti_library = DEBUBBLE_FAKE_CUPTI});
  try {
    Recorder second({.file = scratch.path("b.dbrec"), .cupti_library = DEBUBBLE_FAKE_CUPTI});
    FAIL("started");
  } catch (const UnavailableError& error) {
    CHECK(error.diagnostic().code == "U003");
    CHECK(contains(error.diagnostic().message, "CUPTI for debubble"));
  }
}

TEST_CASE("a range that is open when recording pauses is linked again when it goes on") {
  const Scratch scratch;
  const std::string path = scratch.path("a.dbrec");
  Recorder recorder({.file = path, .cupti_library = DEBUBBLE_FAKE_CUPTI});
  const FakeCupti gpu = fake();
  recorder.push("outer");
  recorder.pause();
  recorder.push("inner");
  recorder.resume();
  gpu.launch("k", 10, 30, 7);
  recorder.pop();
  gpu.launch("k", 40, 45, 7);
  recorder.pop();
  gpu.launch("k", 50, 51, 7);
  recorder.stop();
  const Tally tally = read_tally(path);
  CHECK(tally.time_in("outer/inner") == 20);
  CHECK(tally.time_in("outer") == 5);
  CHECK(tally.time_in("") == 1);
}

TEST_CASE("memory is recorded while recording pauses: releases match allocations") {
  const Scratch scratch;
  const std::string path = scratch.path("a.dbrec");
  Recorder recorder({.file = path, .cupti_library = DEBUBBLE_FAKE_CUPTI});
  const FakeCupti gpu = fake();
  gpu.memory(0x1000, 4096);
  recorder.pause();
  gpu.memory(0x1000, -4096);
  gpu.memory(0x2000, 512);
  recorder.resume();
  recorder.stop();
  gpu.memory(0x3000, 1 << 20);
  CHECK(read_tally(path).bytes == 512);
}

TEST_CASE("many threads push and pop at once") {
  const Scratch scratch;
  const std::string path = scratch.path("a.dbrec");
  Recorder recorder({.file = path, .cupti_library = DEBUBBLE_FAKE_CUPTI});
  const FakeCupti gpu = fake();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const std::string name = "thread " + std::to_string(t);
      for (int i = 0; i < 500; ++i) {
        recorder.push(name);
        gpu.launch("k", 100, 101, 7);
        if (i % 100 == 0) recorder.flush();
        recorder.pop();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(recorder.stop().kernels == 4000);
  const Tally tally = read_tally(path);
  CHECK(tally.unknown_links == 0);
  for (int t = 0; t < 8; ++t) CHECK(tally.time_in("thread " + std::to_string(t)) == 500);
}

TEST_CASE("endless depth is counted, not kept") {
  const Scratch scratch;
  const std::string path = scratch.path("a.dbrec");
  Recorder recorder({.file = path, .cupti_library = DEBUBBLE_FAKE_CUPTI});
  for (int i = 0; i < 5000; ++i) recorder.push("deeper");
  for (int i = 0; i < 5001; ++i) recorder.pop();
  recorder.push("again");
  recorder.pop();
  recorder.stop();
  const Tally tally = read_tally(path);
  CHECK(tally.pushes == 4097);
  CHECK(tally.pops == 4097);
  CHECK(tally.losses.at("refused_ranges") == 5000 - 4096);
  CHECK(tally.losses.at("unmatched_pops") == 1);
}

TEST_CASE("launches without GPU work end in U041, with the file complete") {
  const Scratch scratch;
  const std::string path = scratch.path("a.dbrec");
  Recorder recorder({.file = path, .cupti_library = DEBUBBLE_FAKE_CUPTI});
  // What another client does: the records of GPU work never reach us.
  fake().launch("k", std::uint64_t{1} << 63U, 1, 7);
  try {
    recorder.stop();
    FAIL("stopped");
  } catch (const UnavailableError& error) {
    CHECK(error.diagnostic().code == "U041");
  }
  CHECK(read_tally(path).end.complete);
  CHECK(read_tally(path).losses.at("impossible_times") == 1);
}

TEST_CASE("an abandoned recorder of a child leaves the parent's file alone") {
  const Scratch scratch;
  const std::string path = scratch.path("a.dbrec");
  Recorder recorder({.file = path, .cupti_library = DEBUBBLE_FAKE_CUPTI});
  recorder.push("parent");
  const pid_t child = fork();
  if (child == 0) {
    recorder.abandon();
    recorder.push("child");
    recorder.fact("child", "yes");
    recorder.flush();
    _exit(recorder.stop().kernels == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  recorder.pop();
  recorder.stop();
  const Tally tally = read_tally(path);
  CHECK(tally.end.complete);
  CHECK(tally.pushes == 1);
  CHECK(tally.facts.count("child") == 0);
}

TEST_CASE("a full disk is told in the summary") {
  Recorder recorder({.file = "/dev/full", .cupti_library = DEBUBBLE_FAKE_CUPTI});
  recorder.push("a");
  recorder.pop();
  CHECK(recorder.stop().write_failed);
}

TEST_CASE("a file that cannot be made is an input error") {
  CHECK_THROWS_AS(Recorder({.file = "/nonexistent/a.dbrec", .cupti_library = DEBUBBLE_FAKE_CUPTI}), InputError);
}

}  // namespace
}  // namespace debubble
