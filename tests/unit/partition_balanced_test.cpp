#include <random>

#include "cost_models/partition/partition.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"
#include "tests/unit/every_cut.hpp"

namespace debubble {
namespace {

Profile with_times(const std::vector<Nanoseconds>& times) {
  Profile profile;
  profile.model = "m";
  for (const Nanoseconds time : times) {
    ProfileLayer layer;
    layer.forward.median = time / 3;
    layer.backward = TimeStatistics{time - time / 3, {}, {}, 0};
    profile.layers.push_back(layer);
  }
  return profile;
}

std::vector<int> balanced_cut(const Profile& profile, int stages) { return cut_layers({}, {&profile, stages}).layers; }

// Worst stage, sum of squares, cuts: what a balanced cut promises to minimise, in this order.
using Merit = std::tuple<Nanoseconds, Nanoseconds, std::vector<int>>;

Merit merit_of(const std::vector<Nanoseconds>& times, const std::vector<int>& sizes) {
  Nanoseconds worst = 0;
  Nanoseconds squares = 0;
  auto layer = times.begin();
  for (const int size : sizes) {
    const Nanoseconds load = std::accumulate(layer, layer + size, Nanoseconds{0});
    layer += size;
    worst = std::max(worst, load);
    squares += load * load;
  }
  return {worst, squares, sizes};
}

TEST_CASE("the balanced partition is the best of all partitions") {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const auto layers = 1 + static_cast<int>(random() % 10);
    const auto stages = 1 + static_cast<int>(random() % static_cast<unsigned>(layers));
    const unsigned spread = std::array{1U, 2U, 4U, 1000U}[random() % 4];  // many ties, then few; zeros too
    std::vector<Nanoseconds> times;
    for (int k = 0; k < layers; ++k) times.push_back(static_cast<Nanoseconds>(random() % spread + random() % 2));
    Merit best{kLongestDuration, 0, {}};
    testing::for_each_cut(layers, stages,
                          [&](const std::vector<int>& sizes) { best = std::min(best, merit_of(times, sizes)); });
    CAPTURE(times);
    CAPTURE(stages);
    REQUIRE(balanced_cut(with_times(times), stages) == std::get<2>(best));
  }
}

TEST_CASE("equal layers are shared out evenly, the larger stages last") {
  CHECK(balanced_cut(with_times(std::vector<Nanoseconds>(10, 5)), 4) == std::vector<int>{2, 2, 3, 3});
  CHECK(balanced_cut(with_times(std::vector<Nanoseconds>(22, 5)), 4) == std::vector<int>{5, 5, 6, 6});
  CHECK(balanced_cut(with_times({1, 1, 1, 9}), 2) == std::vector<int>{3, 1});
  CHECK(balanced_cut(with_times({0, 0, 0, 0}), 2) == std::vector<int>{1, 3});
}

TEST_CASE("a layer weighs its forward and its backward, whole or in halves") {
  Profile profile = with_times({30, 30, 30});
  profile.layers[2].backward.reset();
  profile.layers[2].input_grad = TimeStatistics{50, {}, {}, 0};
  profile.layers[2].weight_grad = TimeStatistics{40, {}, {}, 0};
  CHECK(layer_time(profile.layers[0]) == 30);
  CHECK(layer_time(profile.layers[2]) == 100);
  profile.layers[2].backward = TimeStatistics{60, {}, {}, 0};  // the whole was measured: it counts, not the halves
  CHECK(layer_time(profile.layers[2]) == 70);
}

TEST_CASE("ten thousand layers on 512 stages are no trouble") {
  std::vector<Nanoseconds> times;
  std::mt19937 random(11);
  for (int k = 0; k < 10'000; ++k) times.push_back(static_cast<Nanoseconds>(1'000'000 + random() % 1'000'000));
  const std::vector<int> sizes = balanced_cut(with_times(times), 512);
  CHECK(sizes.size() == 512);
  CHECK(std::accumulate(sizes.begin(), sizes.end(), 0) == 10'000);
  const Nanoseconds total = std::accumulate(times.begin(), times.end(), Nanoseconds{0});
  CHECK(std::get<0>(merit_of(times, sizes)) < total / 512 + 2'000'000);
}

TEST_CASE("the longest times do not overflow") {
  const std::vector<Nanoseconds> longest(100, kLongestDuration);
  CHECK(balanced_cut(with_times(longest), 3) == std::vector<int>{33, 33, 34});
  CHECK(problems_of([] { (void)balanced_cut(with_times(std::vector<Nanoseconds>(513, kLongestDuration)), 3); }) ==
        "error[L007]: the times of all layers together overflow\n"
        "  = help: check the layers' times, or the sizes that a --model was given\n");
}

TEST_CASE("too few layers or stages are refused") {
  CHECK(problems_of([] {
          (void)balanced_cut(with_times({1, 2}), 3);
        }) ==
        "error[L004]: 3 stages need at least as many layers; m has 2\n"
        "  --> --partition\n"
        "  = help: use at most 2 stages (devices times chunks)\n");
  CHECK(problems_of([] {
          (void)balanced_cut(with_times({1, 2}), 0);
        }) ==
        "error[L004]: a pipeline has at least one stage; got 0\n"
        "  --> --partition\n");
}

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

TEST_CASE("a staged partition is as short as the best of all partitions") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    testing::Dice dice(seed);
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
    CHECK(*std::min_element(partition.begin(), partition.end()) >= 1);
    REQUIRE_EQ(std::accumulate(partition.begin(), partition.end(), 0), layers);
    Nanoseconds best = kLongestDuration;
    testing::for_each_cut(layers, stages,
                          [&](const std::vector<int>& cut) { best = std::min(best, slowest(by_stage, cut)); });
    REQUIRE_EQ(slowest(by_stage, partition), best);
  }
}

TEST_CASE(
    "of stages as slow the most even ones, to the last nanosecond: refused are sums that overflow, and few layers") {
  const Nanoseconds long_time = Nanoseconds{1} << 55;
  const LayerTimes times{long_time, long_time - 1, 1, long_time - 4, 2};
  CHECK(cut_layers({}, {.times = {&times, &times, &times}}).layers == std::vector<int>{1, 1, 3});
  const LayerTimes endless(8, Nanoseconds{1} << 60);
  CHECK_THROWS_WITH_AS((void)cut_layers({}, {.times = {&endless}}), doctest::Contains("overflow"), InputError);
  const LayerTimes two{1, 1};
  CHECK_THROWS_AS((void)cut_layers({}, {.times = {&two, &two, &two}}), InputError);
}

std::vector<int> typed_cut(const std::string& text, int stages, int layers) {
  Profile profile;
  profile.layers.resize(static_cast<std::size_t>(layers));
  return cut_layers(parse_cut_rule(text), {&profile, stages}).layers;
}

std::string partition_parse_complaint(const std::string& text, int stages, int layers) {
  return problems_of([&] { (void)typed_cut(text, stages, layers); });
}

TEST_CASE("a partition that fits is read") {
  CHECK(typed_cut("3,1,2", 3, 6) == std::vector<int>{3, 1, 2});
  CHECK(typed_cut("6", 1, 6) == std::vector<int>{6});
}

TEST_CASE("a partition must place every layer once") {
  CHECK(partition_parse_complaint("3,1,1", 3, 6) ==
        "error[L006]: layers in model / layers placed: 6 / 5\n"
        "  --> --partition\n"
        "  = help: the numbers must add up to 6\n");
  CHECK(contains(partition_parse_complaint("2147483647,2147483647", 2, 6), "layers placed: 6 / 4294967294\n"));
}

TEST_CASE("a partition has one number per stage, and both totals are reported") {
  CHECK(partition_parse_complaint("3,3", 3, 7) ==
        "error[L005]: the pipeline has 3 stages, the partition 2\n"
        "  --> --partition\n"
        "  = help: give one number per stage (devices times chunks)\n"
        "error[L006]: layers in model / layers placed: 7 / 6\n"
        "  --> --partition\n"
        "  = help: the numbers must add up to 7\n");
}

TEST_CASE("what is not a number of layers is refused, all of it at once") {
  CHECK(partition_parse_complaint("a,0,-1,99999999999,,2 ", 6, 9) ==
        "error[S061]: stage 0 gets \"a\", which is not a number of layers\n"
        "  --> --partition\n"
        "  = help: write one whole number per stage, as in 6,6,5,5; auto, even or memory\n"
        "error[L004]: stage 1 gets 0 layers\n"
        "  --> --partition\n"
        "  = help: every stage needs at least one layer\n"
        "error[L004]: stage 2 gets -1 layers\n"
        "  --> --partition\n"
        "  = help: every stage needs at least one layer\n"
        "error[L007]: stage 3 gets more layers than can be counted\n"
        "  --> --partition\n"
        "  = help: the model has 9\n"
        "error[S061]: stage 4 gets \"\", which is not a number of layers\n"
        "  --> --partition\n"
        "  = help: write one whole number per stage, as in 6,6,5,5; auto, even or memory\n"
        "error[S061]: stage 5 gets \"2 \", which is not a number of layers\n"
        "  --> --partition\n"
        "  = help: write one whole number per stage, as in 6,6,5,5; auto, even or memory\n");
  CHECK(partition_parse_complaint("", 1, 1).find("error[S061]: stage 0 gets \"\"") == 0);
  CHECK(partition_parse_complaint("+3", 1, 3).find("error[S061]") == 0);
}

}  // namespace
}  // namespace debubble
