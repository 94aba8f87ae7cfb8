// Closed forms of Chimera: D devices, N microbatches over both directions, f pairs of pipes, q = D/f.
#include "schedules/catalog.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

struct Times {
  int f, b;
};

const std::vector<Times> kTimes{{1, 1}, {1, 2}, {1, 3}, {2, 3}};

std::vector<int> legal_pairs(int devices) {
  std::vector<int> pairs;
  for (int f = 1; f <= devices / 2; ++f) {
    if (devices / 2 % f == 0) pairs.push_back(f);
  }
  return pairs;
}

Totals run(const Schedule& schedule, double f, double b) { return totals_of(schedule, toy_costs(schedule, f, b)); }

// Peaks that rise by one towards the middle of each group of q devices.
void check_peaks(const Totals& totals, int q, int lowest, Bytes entry) {
  for (std::size_t d = 0; d < totals.devices.size(); ++d) {
    const int j = static_cast<int>(d) % q;
    REQUIRE(totals.devices[d].peak_activation == (lowest + std::min(j, q - 1 - j)) * entry);
  }
}

}  // namespace

TEST_CASE("Chimera direct: D(tf+tb) + (q-2)tb + (K-1)[D(tf+tb) + (q-2)(tb-tf)] for K full units") {
  for (int devices = 2; devices <= 16; devices += 2) {
    for (const int f : legal_pairs(devices)) {
      for (int k = 1; k <= 4; ++k) {
        const Schedule schedule = build("chimera", devices, k * devices, 0, {{"pairs", std::to_string(f)}});
        CAPTURE(describe(schedule));
        const int q = devices / f;
        for (const Times& t : kTimes) {
          const int unit = devices * (t.f + t.b);
          const int expected = unit + (q - 2) * t.b + (k - 1) * (unit + (q - 2) * (t.b - t.f));
          const Totals totals = run(schedule, t.f, t.b);
          REQUIRE(totals.makespan == expected * kUnit);
          check_peaks(totals, q, devices - devices / (2 * f) + 1, kShare);
        }
      }
    }
  }
}

TEST_CASE("Chimera direct with equal times: bubble ratio (D-2f)/(2fN+D-2f)") {
  for (int devices = 2; devices <= 12; devices += 2) {
    for (const int f : legal_pairs(devices)) {
      for (int k = 1; k <= 3; ++k) {
        const int n = k * devices;
        const Schedule schedule = build("chimera", devices, n, 0, {{"pairs", std::to_string(f)}});
        CAPTURE(describe(schedule));
        const Report report = run_engine(schedule, toy_costs(schedule, 1, 1), {}).report;
        REQUIRE(report.bubble_ratio == doctest::Approx((devices - 2.0 * f) / (2.0 * f * n + devices - 2.0 * f)));
        REQUIRE(report.weight_copies == 2 * f);
      }
    }
  }
}

TEST_CASE("Chimera direct with fewer microbatches than devices: D tf + (D+N-2) tb") {
  for (int devices = 4; devices <= 12; devices += 2) {
    for (int n = 2; n < devices; n += 2) {
      const Schedule schedule = build("chimera", devices, n);
      CAPTURE(describe(schedule));
      REQUIRE(run(schedule, 1, 2).makespan == (devices + 2 * (devices + n - 2)) * kUnit);
    }
  }
}

TEST_CASE("Chimera doubling: 3N + 1.5(D-2) with separate forwards, 3N + 2(D-2) with fused ones") {
  for (int devices = 2; devices <= 12; devices += 2) {
    for (int k = 1; k <= 3; ++k) {
      const int n = 2 * devices * k;
      const Schedule loose = build("chimera", devices, n, 0, {{"mode", "doubling"}});
      const Schedule fused = build("chimera", devices, n, 0, {{"mode", "doubling"}, {"fused", "true"}});
      CAPTURE(describe(loose));
      const Totals totals = run(loose, 1, 2);
      REQUIRE(totals.makespan == units(3 * n + 1.5 * (devices - 2)));
      check_peaks(totals, devices, 2 * devices - devices / 2 + 1, kShare);
      REQUIRE(run(fused, 1, 2).makespan == units(3 * n + 2 * (devices - 2)));
    }
  }
}

TEST_CASE("Chimera halving: 3N + (D-2) when half a microbatch takes half the time") {
  for (int devices = 2; devices <= 12; devices += 2) {
    for (int k = 1; k <= 3; ++k) {
      const int n = devices * k;
      const Schedule schedule = build("chimera", devices, n, 0, {{"mode", "halving"}});
      CAPTURE(describe(schedule));
      const Totals totals = run(schedule, 1, 2);
      REQUIRE(totals.makespan == units(3 * n + devices - 2));
      check_peaks(totals, devices, 2 * devices - devices / 2 + 1, kShare / 2);
    }
  }
}

TEST_CASE("the closed forms of doubling and halving hold where the catalog says, and not elsewhere") {
  const ScheduleEntry& entry = *find_schedule("chimera");
  CHECK(contains(entry.makespan.text, "doubling at b = 2 f where 2p divides m"));
  CHECK(contains(entry.makespan.text, "halving at b = 2 f where p divides m"));
  for (int devices = 4; devices <= 8; devices += 2) {
    const int odd = 3 * devices;  // p divides it, 2p does not
    const Totals doubling = run(build("chimera", devices, odd, 0, {{"mode", "doubling"}}), 1, 2);
    CHECK(doubling.makespan > units(3 * odd + 1.5 * (devices - 2)));
    const int uneven = devices + 2;
    const Totals halving = run(build("chimera", devices, uneven, 0, {{"mode", "halving"}}), 1, 2);
    CHECK(halving.makespan > units(3 * uneven + devices - 2));
    FormCase form;
    form.devices = devices;
    form.microbatches = odd;
    form.params = {{"mode", "doubling"}, {"pairs", "1"}, {"fused", "false"}};
    CHECK_FALSE(entry.makespan.value(form));
    form.params["mode"] = "halving";
    CHECK(entry.makespan.value(form));
    form.microbatches = uneven;
    CHECK_FALSE(entry.makespan.value(form));
  }
}

TEST_CASE("Chimera direct never amortises its bubble when a backward takes two forwards: (D-2)/(4D-2) remains") {
  for (const int devices : {8, 16}) {
    const Schedule schedule = build("chimera", devices, 64 * devices);
    const Report report = run_engine(schedule, toy_costs(schedule, 1, 2), {}).report;
    const double limit = (devices - 2.0) / (4.0 * devices - 2.0);
    CHECK(report.bubble_ratio > limit);
    CHECK(report.bubble_ratio < limit + 0.005);
  }
}
