// Closed forms of interleaved 1F1B: v chunks per device, groups of g microbatches.
#include "tests/support/catalog_requests.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// (m + (p-1)/v)(tf+tb), in whole nanoseconds: units divide by every v used here.
Nanoseconds ideal_makespan(const Schedule& schedule, double f, double b) {
  const Nanoseconds chunk = units((f + b) / schedule.chunks);
  return (Nanoseconds{schedule.microbatches} * schedule.chunks + schedule.devices - 1) * chunk;
}

void interleaved_check_peaks(const Schedule& schedule, const Totals& totals, int g, int extra = 0) {
  const int p = schedule.devices;
  const int v = schedule.chunks;
  for (int d = 0; d < p; ++d) {
    const int chunks = std::min(2 * (p - 1 - d) + (v - 1) * g + 1 + extra, schedule.microbatches * v);
    REQUIRE(totals.devices[static_cast<std::size_t>(d)].peak_activation == chunks * (kShare / v));
  }
}

bool legal(int p, int m, int g) { return p <= g && g <= m && (m % g == 0 || m % g >= p); }

}  // namespace

TEST_CASE("interleaved takes (m+(p-1)/v)(tf+tb) for every group that Megatron takes, and holds the published peaks") {
  int checked = 0;
  for (int p = 2; p <= 6; ++p) {
    for (int v = 2; v <= 4; ++v) {
      for (int m = p; m <= 3 * p + 2; ++m) {
        for (int g = p; g <= m; ++g) {
          if (!legal(p, m, g)) continue;
          const Schedule schedule = build("interleaved", p, m, v, {{"group", std::to_string(g)}});
          CAPTURE(describe(schedule));
          for (const double b : {1.0, 2.0, 3.0}) {
            const Totals totals = totals_of(schedule, toy_costs(schedule, 1, b));
            REQUIRE(totals.makespan == ideal_makespan(schedule, 1, b));
            interleaved_check_peaks(schedule, totals, g);
          }
          ++checked;
        }
      }
    }
  }
  CHECK(checked > 200);
}

TEST_CASE("interleaved with PyTorch's rounding takes the same time from m = p on") {
  for (int p = 2; p <= 6; ++p) {
    for (int m = p; m <= 24; ++m) {
      const int rounds = std::max(1, m / p);
      if (m % rounds != 0) continue;
      const Schedule schedule = build("interleaved", p, m, 2, {{"rounding", "pytorch"}});
      CAPTURE(describe(schedule));
      const Totals totals = totals_of(schedule, toy_costs(schedule, 1, 2));
      REQUIRE(totals.makespan == ideal_makespan(schedule, 1, 2));
      interleaved_check_peaks(schedule, totals, m / rounds);
    }
  }
}

TEST_CASE("interleaved exposes 2(pv-1) hops, however many microbatches there are") {
  for (int p = 2; p <= 6; ++p) {
    for (int v = 2; v <= 4; ++v) {
      for (int rounds = 1; rounds <= 4; ++rounds) {
        for (const double b : {1.0, 2.0}) {
          for (const double c : {0.01, 0.05}) {
            const Schedule schedule = build("interleaved", p, rounds * p, v);
            CAPTURE(describe(schedule));
            const Totals totals = totals_of(schedule, toy_costs(schedule, 1, b), {units(c), 0});
            REQUIRE(totals.makespan == ideal_makespan(schedule, 1, b) + 2 * (p * v - 1) * units(c));
          }
        }
      }
    }
  }
}

TEST_CASE("interleaved sends v times as much as 1F1B and its wrap-around") {
  for (int p = 2; p <= 6; ++p) {
    for (int v = 2; v <= 4; ++v) {
      const Schedule schedule = build("interleaved", p, 2 * p, v);
      const Report report = run_engine(schedule, toy_costs(schedule, 1, 2), {}).report;
      REQUIRE(report.p2p_messages == 2 * (p * v - 1) * 2 * p);
    }
  }
}

TEST_CASE("forward passes more before the first backward pass cost memory and no time") {
  for (int p = 1; p <= 6; ++p) {
    for (const int v : {1, 2, 3}) {
      if (p == 1 && v > 1) continue;
      for (int m = p; m <= 3 * p; m += p) {
        for (const int extra : {0, 1, p / 2, m}) {
          const Schedule schedule =
              build(v > 1 ? "interleaved" : "1f1b", p, m, v, {{"extra_warmup", std::to_string(extra)}});
          CAPTURE(describe(schedule));
          const Totals totals = totals_of(schedule, toy_costs(schedule, 1, 2));
          REQUIRE(totals.makespan == ideal_makespan(schedule, 1, 2));
          if (v > 1) {
            interleaved_check_peaks(schedule, totals, p, extra);
            continue;
          }
          for (int d = 0; d < p; ++d) {
            REQUIRE(totals.devices[static_cast<std::size_t>(d)].peak_activation == std::min(p - d + extra, m) * kShare);
          }
        }
      }
    }
  }
}
