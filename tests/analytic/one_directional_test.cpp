// Closed forms of GPipe, 1F1B and ZB-H1 over grids of parameters: makespans, latency laws, activation peaks.
//
// tf, tb: times of one device share for one microbatch; c: latency of one hop; p devices; m microbatches.
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

struct OneDirectionalTimes {
  double f, b;
};

const std::vector<OneDirectionalTimes> kOneDirectionalTimes{{1, 1}, {1, 2}, {1, 3}, {2, 3}};

}  // namespace

TEST_CASE("GPipe takes (m+p-1)(tf+tb) + 2(p-1)c and holds m activations, in either backward order") {
  for (const char* order : {"descending", "ascending"}) {
    for (int p = 1; p <= 9; ++p) {
      for (int m = 1; m <= 17; m += 2) {
        for (const OneDirectionalTimes& t : kOneDirectionalTimes) {
          for (const double c : {0.0, 0.1, 0.5, 1.0, 3.0}) {
            const Schedule schedule = build("gpipe", p, m, 0, {{"backward", order}});
            const Totals totals = totals_of(schedule, toy_costs(schedule, t.f, t.b), {units(c), 0});
            CAPTURE(p);
            CAPTURE(m);
            CAPTURE(c);
            REQUIRE(totals.makespan == (m + p - 1) * units(t.f + t.b) + 2 * (p - 1) * units(c));
            for (const DeviceTotals& device : totals.devices) REQUIRE(device.peak_activation == m * kShare);
          }
        }
      }
    }
  }
}

TEST_CASE("GPipe's bubble is (p-1)/(m+p-1) of all device time") {
  for (int p = 2; p <= 8; ++p) {
    for (int m = 1; m <= 16; ++m) {
      const Schedule schedule = build("gpipe", p, m);
      const Report report = run_engine(schedule, toy_costs(schedule, 1, 2), {}).report;
      REQUIRE(report.bubble_ratio == doctest::Approx((p - 1.0) / (m + p - 1)));
      REQUIRE(report.bubble_over_ideal == doctest::Approx((p - 1.0) / m));
    }
  }
}

TEST_CASE("1F1B takes (m+p-1)(tf+tb) and device d holds min(p-d, m) activations") {
  for (int p = 1; p <= 9; ++p) {
    for (int m = 1; m <= 20; ++m) {
      for (const OneDirectionalTimes& t : kOneDirectionalTimes) {
        const Schedule schedule = build("1f1b", p, m);
        const Totals totals = totals_of(schedule, toy_costs(schedule, t.f, t.b));
        CAPTURE(p);
        CAPTURE(m);
        REQUIRE(totals.makespan == (m + p - 1) * units(t.f + t.b));
        for (int d = 0; d < p; ++d) {
          REQUIRE(totals.devices[static_cast<std::size_t>(d)].peak_activation == std::min(p - d, m) * kShare);
        }
      }
    }
  }
}

TEST_CASE("1F1B pays latency per microbatch: 2m(p-1)/p + 2(p-2) hops where p divides m and c is small") {
  for (int p = 2; p <= 10; ++p) {
    for (int rounds = 1; rounds <= 6; ++rounds) {
      for (const OneDirectionalTimes& t : kOneDirectionalTimes) {
        for (const double c : {0.01, 0.05, 0.1}) {
          const int m = rounds * p;
          const Schedule schedule = build("1f1b", p, m);
          const Totals totals = totals_of(schedule, toy_costs(schedule, t.f, t.b), {units(c), 0});
          CAPTURE(p);
          CAPTURE(m);
          CAPTURE(c);
          const int hops = 2 * rounds * (p - 1) + 2 * (p - 2);
          REQUIRE(totals.makespan == (m + p - 1) * units(t.f + t.b) + hops * units(c));
        }
      }
    }
  }
}

TEST_CASE("ZB-H1 leaves (p-1)(F+I-W) of bubble, and device d holds p-d activations and d weight shares") {
  struct Split {
    double f, i, w;
  };
  for (const Split& t : {Split{1, 1, 1}, Split{5, 6, 4}, Split{3, 4, 2}, Split{2, 2, 1}}) {
    for (int p = 1; p <= 9; ++p) {
      for (int m = 2 * p; m <= 4 * p; m += 3) {
        for (const double held : {0.0, 0.25, 0.5, 1.0}) {
          const Schedule schedule = build("zb-h1", p, m);
          const Totals totals = totals_of(schedule, split_costs(schedule, t.f, t.i, t.w, held));
          CAPTURE(p);
          CAPTURE(m);
          CAPTURE(t.f);
          CAPTURE(held);
          REQUIRE(totals.makespan == m * units(t.f + t.i + t.w) + (p - 1) * units(t.f + t.i - t.w));
          for (int d = 0; d < p; ++d) {
            const Bytes share = static_cast<Bytes>(held * static_cast<double>(kShare));
            const Bytes expected = (p - d) * kShare + std::min(d, m) * share;
            REQUIRE(totals.devices[static_cast<std::size_t>(d)].peak_activation == expected);
          }
        }
      }
    }
  }
}

TEST_CASE("the slowest stage sets the pace: m of its times and one pass through the others") {
  // Unequal stages: stage s takes s + 1 for F and for B. The last one works without a gap once it has started.
  for (int p = 1; p <= 6; ++p) {
    for (int m = 1; m <= 12; ++m) {
      const Schedule schedule = build("1f1b", p, m);
      StageCosts costs = toy_costs(schedule, 1, 1);
      Nanoseconds others = 0;
      for (int s = 0; s < p; ++s) {
        StageCost& cost = costs.stages[static_cast<std::size_t>(s)];
        cost.forward = cost.backward = units(s + 1);
        others += s + 1 < p ? 2 * units(s + 1) : 0;
      }
      CAPTURE(p);
      CAPTURE(m);
      REQUIRE(totals_of(schedule, costs).makespan == others + m * 2 * units(p));
    }
  }
}

TEST_CASE("chained iterations of 1F1B repeat after one makespan, whatever the sizes") {
  for (int p = 1; p <= 6; ++p) {
    for (int m = p; m <= 3 * p; ++m) {
      const Schedule schedule = build("1f1b", p, m);
      const StageCosts costs = toy_costs(schedule, 1, 2);
      const Program program = std::get<Program>(lower(schedule));
      CAPTURE(p);
      CAPTURE(m);
      REQUIRE(steady_period(program, costs, Topology::ideal(0, 0)) == (m + p - 1) * units(3));
    }
  }
}
