// The numbers of a list of step times, and work on several threads.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "studies/parallel.hpp"
#include "studies/whatif/seeds.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

SeedTimes summary_of(std::vector<Nanoseconds> times) {
  SeedTimes seeds;
  seeds.first_seed = 10;
  seeds.times = std::move(times);
  summarise(seeds);
  return seeds;
}

TEST_CASE("percentiles are times that occurred, by nearest rank") {
  std::vector<Nanoseconds> times;
  for (int k = 100; k >= 1; --k) times.push_back(k);
  const SeedTimes seeds = summary_of(times);
  CHECK(seeds.p50 == 50);
  CHECK(seeds.p95 == 95);
  CHECK(seeds.p99 == 99);
  CHECK(seeds.least == 1);
  CHECK(seeds.most == 100);
  CHECK(seeds.least_seed == 109);
  CHECK(seeds.most_seed == 10);
  CHECK(seeds.mean == 51);  // 50.5, halves up
  CHECK(seeds.deviation == doctest::Approx(std::sqrt(100 * 101 / 12.0)));
  const SeedTimes two = summary_of({7, 5});
  CHECK(two.p50 == 5);
  CHECK(two.p95 == 7);
}

TEST_CASE("every seed stands in one bin, the last one in the last") {
  const SeedTimes seeds = summary_of({1000, 1000, 1001, 1039, 1040});
  REQUIRE(seeds.bins.size() == kBins);
  CHECK(seeds.bins[0] == 2);
  CHECK(seeds.bins[1] == 1);
  CHECK(seeds.bins[39] == 2);
  std::int64_t sum = 0;
  for (const std::int64_t bin : seeds.bins) sum += bin;
  CHECK(sum == 5);
  const SeedTimes same = summary_of({4, 4, 4});
  CHECK(same.bins[0] == 3);
  CHECK(same.deviation == 0);
}

TEST_CASE("huge step times do not overflow") {
  const Nanoseconds huge = Nanoseconds{1} << 60;
  const SeedTimes seeds = summary_of({huge, huge + 2, huge + 4});
  CHECK(seeds.mean == huge + 2);
  CHECK(seeds.deviation == doctest::Approx(2));
}

TEST_CASE("each index is worked on once, on any number of threads") {
  for (const int threads : {1, 2, 7}) {
    std::vector<int> done(1000, 0);
    for_each_index(done.size(), threads, [&](std::size_t k) { done[k] += 1; });
    CHECK(done == std::vector<int>(1000, 1));
  }
}

TEST_CASE("the exception of the lowest index comes out, when all have ended") {
  for (const int threads : {1, 4}) {
    std::atomic<int> ended{0};
    std::string what;
    try {
      for_each_index(100, threads, [&](std::size_t k) {
        ++ended;
        if (k % 10 == 3) throw std::runtime_error(std::to_string(k));
      });
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    CHECK(what == "3");
    CHECK(ended == 100);
  }
}

TEST_CASE("as many threads as asked work at once, be there so many cores or not") {
  for (const int threads : {2, 3, 64}) {
    CAPTURE(threads);
    std::mutex mutex;
    std::condition_variable changed;
    int waiting = 0;
    int most = 0;
    bool together = true;
    for_each_index(3 * static_cast<std::size_t>(threads), threads, [&](std::size_t /*k*/) {
      std::unique_lock lock(mutex);
      const int round = most / threads;
      most += 1;
      if (++waiting == threads) {
        waiting = 0;
        return changed.notify_all();
      }
      const auto all_here = [&] { return most >= (round + 1) * threads; };
      if (!changed.wait_for(lock, std::chrono::seconds(60), all_here)) together = false;
    });
    CHECK(together);
  }
}

TEST_CASE("work within work is done once, too") {
  std::vector<int> done(6 * 50, 0);
  for_each_index(6, 3,
                 [&](std::size_t k) { for_each_index(50, 2, [&](std::size_t inner) { done[k * 50 + inner] += 1; }); });
  CHECK(done == std::vector<int>(300, 1));
}

TEST_CASE("no more threads than there is work") {
  CHECK(threads_for(3, 16) == 3);
  CHECK(threads_for(0, 16) == 1);
  CHECK(threads_for(100, 16) == 16);
  CHECK(threads_for(100, 0) >= 1);
}

}  // namespace
}  // namespace debubble::testing
