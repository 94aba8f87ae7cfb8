// A partition whose stages take different times for the same layer, against brute force.
#include "cost_models/partition/partition.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "sim/core/error.hpp"
#include "tests/support/random_case.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

using LayerTimes = std::vector<Nanoseconds>;

Nanoseconds slowest(const std::vector<const LayerTimes*>& by_stage, const std::vector<int>& partition) {
  Nanoseconds most = 0;
  std::size_t layer = 0;
  for (std::size_t s = 0; s < partition.size(); ++s) {
    Nanoseconds stage = 0;
    for (int k = 0; k < partition[s]; ++k) stage += (*by_stage[s])[layer++];
    most = std::max(most, stage);
  }
  return most;
}

Nanoseconds best_of_all(const std::vector<const LayerTimes*>& by_stage, int layers) {
  Nanoseconds best = std::numeric_limits<Nanoseconds>::max();
  std::vector<int> partition;
  const std::function<void(int)> next = [&](int left) {
    const auto stages_left = static_cast<int>(by_stage.size() - partition.size());
    if (stages_left == 0) {
      if (left == 0) best = std::min(best, slowest(by_stage, partition));
      return;
    }
    for (int take = 1; take + stages_left - 1 <= left; ++take) {
      partition.push_back(take);
      next(left - take);
      partition.pop_back();
    }
  };
  next(layers);
  return best;
}

}  // namespace

TEST_CASE("a staged partition is as short as the best of all partitions") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Dice dice(seed);
    const auto stages = static_cast<int>(dice.from(1, 5));
    const auto layers = static_cast<int>(dice.from(stages, 10));
    LayerTimes plain;
    LayerTimes again;
    for (int k = 0; k < layers; ++k) {
      plain.push_back(dice.from(0, 9));
      again.push_back(plain.back() * 4 / 3);
    }
    std::vector<const LayerTimes*> by_stage;
    for (int s = 0; s < stages; ++s) by_stage.push_back(dice.once_in(2) ? &plain : &again);
    const std::vector<int> partition = cut_layers({}, {.times = by_stage}).layers;
    CAPTURE(seed);
    int placed = 0;
    for (const int size : partition) {
      CHECK(size >= 1);
      placed += size;
    }
    REQUIRE_EQ(placed, layers);
    REQUIRE_EQ(slowest(by_stage, partition), best_of_all(by_stage, layers));
  }
}

TEST_CASE("of stages as slow the most even ones, to the last nanosecond, and sums that overflow are refused") {
  const Nanoseconds long_time = Nanoseconds{1} << 55;
  const LayerTimes times{long_time, long_time - 1, 1, long_time - 4, 2};
  CHECK(cut_layers({}, {.times = {&times, &times, &times}}).layers == std::vector<int>{1, 1, 3});
  const LayerTimes endless(8, Nanoseconds{1} << 60);
  CHECK_THROWS_WITH_AS((void)cut_layers({}, {.times = {&endless}}), doctest::Contains("overflow"), InputError);
}

TEST_CASE("fewer layers than stages are refused") {
  const LayerTimes two{1, 1};
  CHECK_THROWS_AS((void)cut_layers({}, {.times = {&two, &two, &two}}), InputError);
}
