// A sweep of one process: blocks come out in order and once, on any number of threads, and few are kept.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include "studies/sweep/pipeline.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

SweepBlock numbers_of(const BlockRange& range) {
  SweepBlock block;
  for (std::int64_t row = range.first; row < range.end; ++row) block.lines += std::to_string(row) + " ";
  block.tallies[{0, ""}].rows = range.end - range.first;
  return block;
}

std::string all_numbers(std::int64_t first, std::int64_t end) { return numbers_of({0, first, end}).lines; }

MakeBlockWorker always(const BlockWorker& work) {
  return [work] { return work; };
}

const std::function<bool()> kGoesOn = [] { return true; };

TEST_CASE("all rows come once and in order, one block at a time, from any number of threads") {
  for (const int threads : {1, 2, 7}) {
    for (const std::int64_t per_block : {1, 3, 64}) {
      CAPTURE(threads);
      CAPTURE(per_block);
      const MakeBlockWorker make_worker = [] {
        return [random = std::minstd_rand()](const BlockRange& range) mutable {
          if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
          return numbers_of(range);
        };
      };
      std::string lines;
      pipe_blocks({5, 213, per_block}, threads, make_worker, kGoesOn,
                  [&](const SweepBlock& block) { lines += block.lines; });
      CHECK(lines == all_numbers(5, 213));
    }
  }
}

TEST_CASE("behind a block that is slow only so many are done") {
  constexpr int kThreads = 3;
  std::atomic<int> done = 0;
  int done_before_first = 0;
  pipe_blocks({0, 1000, 1}, kThreads, always([&](const BlockRange& range) {
                if (range.first == 0) {
                  std::this_thread::sleep_for(std::chrono::milliseconds(100));
                  done_before_first = done;
                }
                ++done;
                return numbers_of(range);
              }),
              kGoesOn, [](const SweepBlock& /*block*/) {});
  CHECK(done == 1000);
  CHECK(done_before_first < kBlocksAhead * kThreads);
}

TEST_CASE("as many threads as asked work at once, each with its own worker") {
  constexpr int kThreads = 16;
  std::mutex mutex;
  std::condition_variable changed;
  int at_once = 0;
  int workers = 0;
  bool together = true;
  const MakeBlockWorker make_worker = [&]() -> BlockWorker {
    {
      const std::lock_guard lock(mutex);
      ++workers;
    }
    return [&](const BlockRange& range) {
      std::unique_lock lock(mutex);
      ++at_once;
      changed.notify_all();
      if (!changed.wait_for(lock, std::chrono::seconds(60), [&] { return at_once >= kThreads; })) together = false;
      return numbers_of(range);
    };
  };
  pipe_blocks({0, 100, 1}, kThreads, make_worker, kGoesOn, [](const SweepBlock& /*block*/) {});
  CHECK(together);
  CHECK(workers >= kThreads);
}

TEST_CASE("the first block in order that throws ends it: all before it are taken, none after it") {
  for (const int threads : {1, 4}) {
    std::string lines;
    CHECK_THROWS_WITH(pipe_blocks({0, 1000, 10}, threads, always([](const BlockRange& range) -> SweepBlock {
                                    if (range.first == 300) {
                                      std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                    }
                                    if (range.first >= 300) throw std::runtime_error(std::to_string(range.first));
                                    return numbers_of(range);
                                  }),
                                  kGoesOn, [&](const SweepBlock& block) { lines += block.lines; }),
                      "300");
    CHECK(lines == all_numbers(0, 300));
  }
}

TEST_CASE("what the reader throws comes out, and it is not called again") {
  int taken = 0;
  CHECK_THROWS_WITH(pipe_blocks({0, 1000, 1}, 3, always(numbers_of), kGoesOn,
                                [&](const SweepBlock& /*block*/) {
                                  if (++taken == 5) throw std::runtime_error("no room");
                                }),
                    "no room");
  CHECK(taken == 5);
  CHECK_THROWS_WITH(pipe_blocks(
                        {0, 9, 1}, 2, []() -> BlockWorker { throw std::runtime_error("no worker"); }, kGoesOn,
                        [](const SweepBlock& /*block*/) {}),
                    "no worker");
}

TEST_CASE("once it shall not go on, what is under way is taken and nothing else") {
  std::atomic<bool> goes_on = true;
  std::string lines;
  std::int64_t taken = 0;
  std::int64_t taken_before = 0;
  pipe_blocks(
      {0, 100'000, 10}, 2, always(numbers_of), [&] { return goes_on.load(); },
      [&](const SweepBlock& block) {
        lines += block.lines;
        taken += block.rows();
        if (taken == 1000) {
          goes_on = false;
          taken_before = taken;
        }
      });
  CHECK(taken - taken_before <= 10 * 2 * kBlocksAhead);
  CHECK(lines == all_numbers(0, taken));
}

TEST_CASE("nothing to pipe is done at once") {
  pipe_blocks({7, 7, 4}, 4, always(numbers_of), kGoesOn, [](const SweepBlock& /*block*/) { CHECK(false); });
}

}  // namespace
}  // namespace debubble::testing
