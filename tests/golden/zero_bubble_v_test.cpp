// zb-v and zb-v-auto: spans, makespans, peaks and rates of the zero-bubble paper's section on the V placement.
#include "tests/support/planned.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Table 8: times of a chunk in microseconds, kept as whole nanoseconds.
struct ZeroBubbleVSetting {
  int hidden, heads;
  int devices, microbatches;
  Nanoseconds forward, input_grad, weight_grad, hop;
  double rate;
  Nanoseconds span;
};

const std::vector<ZeroBubbleVSetting> kZeroBubbleVTable8{
    {4096, 32, 16, 48, 14407, 14380, 9676, 1610, 0.0697, 3969197},
    {4096, 32, 16, 64, 14412, 14393, 9688, 1621, 0.0533, 5204741},
    {4096, 32, 16, 128, 14316, 14306, 9639, 1619, 0.0274, 10071047},
    {5120, 40, 24, 72, 6763, 6969, 5251, 755, 0.0638, 2919856},
    {5120, 40, 24, 96, 6783, 6984, 5259, 758, 0.0483, 3838352},
    {5120, 40, 24, 192, 6785, 6990, 5260, 770, 0.0250, 7496545},
    {6144, 48, 32, 96, 9458, 9748, 7288, 879, 0.0593, 5407444},
    {6144, 48, 32, 128, 9469, 9744, 7306, 892, 0.0451, 7109550},
    {6144, 48, 32, 256, 9447, 9644, 7193, 887, 0.0236, 13782480},
};

Case zero_bubble_v_case_of(const ZeroBubbleVSetting& s) {
  const Bytes kept = Bytes{34} * s.hidden + Bytes{5} * s.heads * 1024;
  return equal_case(s.devices, s.microbatches, {s.forward, s.input_grad, s.weight_grad, kept, Bytes{32} * s.hidden},
                    s.hop, 2);
}

double zero_bubble_v_rate(Nanoseconds span, const Case& of) {
  const double work = 2 * static_cast<double>(of.work(0));
  return (static_cast<double>(span) - work) / static_cast<double>(span);
}

bool zero_bubble_v_is_published(double ours, double printed) { return std::abs(ours - printed) <= 5.01e-5; }

}  // namespace

TEST_CASE("golden: zb-v-auto, span, rate and peak in the nine settings of the paper's V table") {
  CHECK(kZeroBubbleVTable8.size() == 9);
  for (const ZeroBubbleVSetting& setting : kZeroBubbleVTable8) {
    CAPTURE(setting.devices);
    CAPTURE(setting.microbatches);
    const Case of = zero_bubble_v_case_of(setting);
    const Schedule schedule = plan("zb-v-auto", of);
    const Totals totals = totals_of(schedule, of);
    CHECK(totals.span == setting.span);
    CHECK(zero_bubble_v_is_published(zero_bubble_v_rate(totals.span, of), setting.rate));
    for (const DeviceTotals& device : totals.devices) {
      CHECK(device.peak_activation == 2 * setting.devices * of.passes.front().activation);
    }
    if (setting.microbatches > 3 * setting.devices) continue;  // the reference is slow, and learns nothing new there
    const auto rules = reference::simulate(schedule, of.costs(), of.hop, 0, reference::Mode::kOverlapped);
    CHECK(reference::span_of(rules) == setting.span);
  }
}

TEST_CASE("golden: zb-v beside zb-v-auto in two of those settings") {
  for (const auto& [index, by_hand] : {std::pair{std::size_t{7}, 0.0444}, std::pair{std::size_t{1}, 0.0545}}) {
    const Case of = zero_bubble_v_case_of(kZeroBubbleVTable8[index]);
    CHECK(zero_bubble_v_is_published(
        zero_bubble_v_rate(totals_of(build("zb-v", of.devices, of.microbatches), of).span, of), by_hand));
  }
}

TEST_CASE("golden: zb-v without latency: makespan, span and the same peak on every device") {
  struct Point {
    int devices, microbatches;
    double f, i, w;
    double makespan, span;
  };
  const std::vector<Point> points{{4, 8, 1, 1, 1, 51, 48}, {4, 12, 5, 6, 4, 378, 372}, {8, 24, 1, 1, 1, 151, 144}};
  for (const Point& point : points) {
    for (const double held : {0.0, 0.5, 1.0}) {
      const Schedule schedule = build("zb-v", point.devices, point.microbatches);
      const StageCosts costs = split_costs(schedule, 2 * point.f, 2 * point.i, 2 * point.w, held);
      const std::vector<double> peaks(static_cast<std::size_t>(point.devices), point.devices);
      CHECK_EQ(mismatch(schedule, costs, {}, units(point.makespan), peaks), "");
      CHECK(totals_of(schedule, costs).span == units(point.span));
    }
  }
}

TEST_CASE("golden: zb-v with equal passes has no bubble from 2p-1 microbatches on, and a small one below") {
  for (int p = 1; p <= 6; ++p) {
    for (int m = 2 * p - 1; m <= 2 * p + 6; ++m) {
      const Case of = equal_case(p, m, {1, 1, 1}, 0, 2);
      const Totals totals = totals_of(build("zb-v", p, m), of);
      CHECK(totals.span == 6 * m);
      CHECK(totals.makespan == 6 * m + p - 1);
    }
  }
  CHECK(totals_of(build("zb-v", 4, 6), equal_case(4, 6, {1, 1, 1}, 0, 2)).span == 38);
}

TEST_CASE("golden: zb-v and zb-v-auto with latency, p=4 m=8") {
  struct Row {
    double f, i, w, hop;
    double makespan, span, searched;
  };
  for (const Row& row :
       {Row{10, 10, 10, 1, 268, 256, 254}, Row{10, 11, 7, 2, 268.5, 268.5, 267}, Row{20, 22, 14, 5, 555, 555, 552}}) {
    CAPTURE(row.f);
    CAPTURE(row.i);
    const Pass half{units(row.f / 2), units(row.i / 2), units(row.w / 2)};
    const Case of = equal_case(4, 8, half, units(row.hop), 2);
    const Totals by_hand = totals_of(build("zb-v", 4, 8), of);
    CHECK(by_hand.makespan == units(row.makespan));
    CHECK(by_hand.span == units(row.span));
    CHECK(totals_of(plan("zb-v-auto", of), of).span == units(row.searched));
  }
}

TEST_CASE("golden: zb-v-auto without latency") {
  const Case of = equal_case(4, 12, {5, 6, 4}, 0, 2);
  const Totals totals = totals_of(plan("zb-v-auto", of), of);
  CHECK(totals.span == 368);
  for (const DeviceTotals& device : totals.devices) CHECK(device.peak_activation == 8 * 2);
}

TEST_CASE("golden: zb-v, the order of p=2 m=3 worked out by hand") {
  const Schedule schedule = build("zb-v", 2, 3);
  CHECK(order_of(schedule, 0, true) ==
        "F0.0 F1.0 F2.0 F0.1 I0.1 W0.1 F1.1 I1.1 W1.1 I0.0 W0.0 F2.1 I2.1 W2.1 I1.0 W1.0 I2.0 W2.0");
  CHECK(order_of(schedule, 1, true) ==
        "F0.0 F0.1 F1.0 F1.1 I0.1 W0.1 F2.0 I0.0 W0.0 F2.1 I1.1 W1.1 I1.0 I2.1 I2.0 W1.0 W2.1 W2.0");
}

TEST_CASE("golden: chained iterations of ZB-H2 and zb-v repeat after their spans") {
  const auto period = [](const Schedule& schedule, int chunks) {
    const Case of = equal_case(4, 8, {1, 1, 1}, 0, chunks);
    return steady_period(std::get<Program>(lower(schedule)), of.costs(), Topology::ideal(0, 0));
  };
  CHECK(period(build("zb-h2", 4, 8), 1) == 24);
  CHECK(period(build("zb-v", 4, 8), 2) == 48);
}
