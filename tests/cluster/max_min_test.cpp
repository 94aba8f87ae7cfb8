// The max-min solver: what SimGrid's own tests expect of it, and what makes rates max-min fair at all.
#include "sim/engine/max_min.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/reference_cluster.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using debubble::testing::Dice;

namespace {

struct Flows {
  struct Part {
    std::int32_t link = 0;
    double weight = 1;
  };
  struct One {
    std::vector<Part> parts;
    double bound = 0;
    double penalty = 1;
  };
  std::vector<double> capacity;
  std::vector<One> flows;
  bool shared = true;

  [[nodiscard]] std::vector<double> solve() const {
    MaxMin max_min;
    for (const double c : capacity) max_min.add_link(c, shared);
    for (const One& flow : flows) {
      max_min.add_flow(flow.bound, flow.penalty);
      for (const Part& part : flow.parts) max_min.cross(part.link, part.weight);
    }
    max_min.solve();
    std::vector<double> rates;
    for (std::size_t f = 0; f < flows.size(); ++f) rates.push_back(max_min.rate(static_cast<std::int32_t>(f)));
    return rates;
  }
};

void equal(const std::vector<double>& rates, const std::vector<double>& expected) {
  REQUIRE_EQ(rates.size(), expected.size());
  for (std::size_t f = 0; f < rates.size(); ++f) CHECK_EQ(rates[f], doctest::Approx(expected[f]).epsilon(1e-12));
}

Flows random_flows(Dice& dice) {
  Flows made;
  const int links = dice.from(1, 6);
  for (int l = 0; l < links; ++l) made.capacity.push_back(dice.from(1, 40));
  for (int f = dice.from(1, 8); f > 0; --f) {
    Flows::One flow;
    for (int l = 0; l < links; ++l) {
      if (dice.once_in(2)) flow.parts.push_back({l, dice.once_in(2) ? 1.0 : 0.25 * dice.from(1, 12)});
    }
    if (flow.parts.empty()) flow.parts.push_back({0, 1});
    if (dice.once_in(3)) flow.bound = dice.from(1, 10);
    made.flows.push_back(flow);
  }
  return made;
}

}  // namespace

TEST_CASE("max-min rates are those of SimGrid's unit tests") {
  equal(Flows{{3}, {{{{0}}, 0, 1}, {{{0}}, 0, 2}}}.solve(), {2, 1});
  equal(Flows{{3}, {{{{0, 1}}}, {{{0, 2}}}}}.solve(), {1, 1});
  equal(Flows{{20}, {{{{0, 1}}, 0, 1}, {{{0, 2}}, 0, 2}}}.solve(), {10, 5});
  equal(Flows{{20, 60}, {{{{0, 1}, {1, 2}}, 0, 1}, {{{0, 2}}, 0, 2}, {{{1, 1}}}}}.solve(), {10, 5, 40});
}

TEST_CASE("a link that is not shared limits each flow for itself") {
  equal(Flows{{10}, {{{{0}}, 0, 1}, {{{0}}, 0, 2}}, false}.solve(), {10, 5});
}

TEST_CASE("max-min rates of three links, of a parking lot and of a bounded flow") {
  equal(Flows{{10, 6, 8}, {{{{0}}}, {{{0}, {1}}}, {{{1}, {2}}}, {{{2}}}}}.solve(), {7, 3, 3, 5});
  equal(Flows{{1, 1, 1}, {{{{0}, {1}, {2}}}, {{{0}}}, {{{1}}}, {{{2}}}}}.solve(), {.5, .5, .5, .5});
  equal(Flows{{50}, {{{{0}}, 5}, {{{0}}}, {{{0}}}, {{{0}}}}}.solve(), {5, 15, 15, 15});
}

TEST_CASE("random max-min rates never exceed a link or a bound, and each flow has a reason to stop") {
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    const Flows flows = random_flows(dice);
    const std::vector<double> rates = flows.solve();
    std::vector<double> used(flows.capacity.size(), 0);
    for (std::size_t f = 0; f < rates.size(); ++f) {
      REQUIRE_GT(rates[f], 0);
      for (const auto& part : flows.flows[f].parts) used[static_cast<std::size_t>(part.link)] += part.weight * rates[f];
    }
    for (std::size_t l = 0; l < used.size(); ++l) REQUIRE_LE(used[l], flows.capacity[l] * (1 + 1e-9));
    for (std::size_t f = 0; f < rates.size(); ++f) {
      const auto& flow = flows.flows[f];
      bool stopped = flow.bound > 0 && rates[f] >= flow.bound * (1 - 1e-9);
      if (flow.bound > 0) REQUIRE_LE(rates[f], flow.bound * (1 + 1e-9));
      for (const auto& part : flow.parts) {
        const auto l = static_cast<std::size_t>(part.link);
        if (used[l] < flows.capacity[l] * (1 - 1e-9)) continue;
        bool fastest = true;  // of those on the full link
        for (std::size_t g = 0; g < rates.size(); ++g) {
          for (const auto& other : flows.flows[g].parts) {
            if (other.link == part.link && rates[g] > rates[f] * (1 + 1e-9)) fastest = false;
          }
        }
        stopped = stopped || fastest;
      }
      REQUIRE(stopped);
    }
  }
}

TEST_CASE("random max-min rates are those of a solver that raises all flows step by step") {
  for (std::uint64_t seed = 10'001; seed <= 12'000; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    const Flows flows = random_flows(dice);
    std::vector<reference::FairFlow> same;
    for (const auto& flow : flows.flows) {
      reference::FairFlow made;
      made.bound = flow.bound;
      for (const auto& part : flow.parts) made.links.push_back({part.link, part.weight});
      same.push_back(made);
    }
    const auto expected = reference::fair_rates(flows.capacity, std::vector<bool>(flows.capacity.size(), true), same);
    const std::vector<double> rates = flows.solve();
    for (std::size_t f = 0; f < rates.size(); ++f) REQUIRE_EQ(rates[f], doctest::Approx(expected[f]).epsilon(1e-9));
  }
}
