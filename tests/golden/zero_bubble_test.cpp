// The zero-bubble papers' tables: cost (the span: latest end minus first start of one device) and bubble rate
// (cost - work) / cost, with their measured times and hop latency, and small exact points.
#include "tests/support/catalog_requests.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

constexpr Nanoseconds kMicrosecond = 1'000;

// Times of one stage of a schedule without chunks, in microseconds.
struct ZeroBubbleSetting {
  int devices, microbatches;
  Nanoseconds forward, input_grad, weight_grad, hop;

  [[nodiscard]] Nanoseconds work() const { return microbatches * (forward + input_grad + weight_grad) * kMicrosecond; }
  [[nodiscard]] HopFigures link() const { return {hop * kMicrosecond, 0}; }
};

// Every stage gets 1/chunks of the setting's times, to the nearest nanosecond.
StageCosts costs_of(const ZeroBubbleSetting& setting, const Schedule& schedule) {
  const auto share = [&](Nanoseconds microseconds) {
    return (2 * microseconds * kMicrosecond + schedule.chunks) / (2 * schedule.chunks);
  };
  StageCost cost;
  cost.forward = share(setting.forward);
  cost.input_grad = share(setting.input_grad);
  cost.weight_grad = share(setting.weight_grad);
  cost.backward = share(setting.input_grad + setting.weight_grad);
  StageCosts costs;
  costs.stages.assign(static_cast<std::size_t>(schedule.stages), cost);
  return costs;
}

double zero_bubble_rate(Nanoseconds cost, Nanoseconds work) {
  return static_cast<double>(cost - work) / static_cast<double>(cost);
}

// Checks cost and rate of one schedule, engine and reference simulator alike.
void check_cost(const ZeroBubbleSetting& setting, const Schedule& schedule, Nanoseconds microseconds,
                double published_rate) {
  CAPTURE(describe(schedule));
  const StageCosts costs = costs_of(setting, schedule);
  const Totals totals = totals_of(schedule, costs, setting.link());
  // The reference is slow, and learns nothing new from many microbatches: their spans are held against the papers'
  // alone.
  if (setting.microbatches <= 4 * setting.devices) {
    const auto rules = reference::simulate(schedule, costs, setting.link().latency, 0, reference::Mode::kOverlapped);
    CHECK(totals.span == reference::span_of(rules));
  }
  if (schedule.name != "zb-h2") CHECK(totals.makespan == totals.span);
  CHECK(std::abs(zero_bubble_rate(totals.span, setting.work()) - published_rate) <= 5.01e-5);
  if (microseconds == 0) return;
  // A third of a whole microsecond is not a whole number of nanoseconds: chunked costs agree to half a microsecond.
  const Nanoseconds slack = schedule.chunks == 1 ? 0 : kMicrosecond / 2;
  const Nanoseconds rounding = schedule.chunks * Nanoseconds{schedule.microbatches};
  CHECK(std::abs(totals.span - microseconds * kMicrosecond) <= slack + (slack > 0 ? rounding : 0));
}

struct Published {
  ZeroBubbleSetting setting;
  int layers_per_device;
  Nanoseconds cost_1f1b;
  double rate_1f1b;
  Nanoseconds cost_interleaved;  // with every dependency, which the papers' own evaluator leaves out in part
  double rate_interleaved;
  Nanoseconds cost_zb_h1;
  double rate_zb_h1;
  Nanoseconds cost_zb_h2;
  double rate_zb_h2;
};

const std::vector<Published> kPublished{
    // 1.5B
    {{8, 24, 18522, 18086, 9337, 601}, 3, 1456749, 0.2431, 1237531, 0.1090, 1310405, 0.1585, 1236632, 0.1083},
    {{8, 32, 18513, 18086, 9331, 626}, 3, 1833838, 0.1985, 1605726, 0.0847, 1678164, 0.1242, 1604083, 0.0837},
    {{8, 64, 18546, 18097, 9321, 762}, 3, 3357932, 0.1240, 3083997, 0.0461, 3154286, 0.0674, 3078371, 0.0444},
    // 6.2B
    {{8, 24, 29718, 29444, 19927, 527}, 4, 2480217, 0.2347, 2069216, 0.0827, 2187537, 0.1323, 2040670, 0.0698},
    {{8, 32, 29802, 29428, 19530, 577}, 4, 3110876, 0.1898, 2693924, 0.0644, 2814376, 0.1045, 2669588, 0.0559},
    {{8, 64, 29935, 29621, 19388, 535}, 4, 5671364, 0.1091, 5223738, 0.0328, 5348572, 0.0554, 5205366, 0.0294},
    // 14.6B
    {{16, 48, 11347, 11248, 8132, 377}, 3, 1980287, 0.2552, 1663969, 0.1136, 1714461, 0.1397, 1581171, 0.0672},
    {{16, 64, 11307, 11254, 8101, 379}, 3, 2478390, 0.2082, 2151304, 0.0878, 2202008, 0.1088, 2069123, 0.0516},
    {{16, 128, 11325, 11308, 8109, 378}, 3, 4497410, 0.1251, 4124218, 0.0459, 4175516, 0.0576, 4042541, 0.0266},
    // 28.3B
    {{32, 96, 10419, 10207, 7715, 408}, 2, 3699675, 0.2646, 3211430, 0.1528, 3171569, 0.1421, 2907108, 0.0641},
    {{32, 128, 10408, 10204, 7703, 408}, 2, 4627749, 0.2168, 4114610, 0.1192, 4075091, 0.1106, 3811002, 0.0490},
    {{32, 256, 10402, 10248, 7698, 460}, 2, 8391636, 0.1352, 7754442, 0.0641, 7715640, 0.0594, 7448482, 0.0257},
};

// Table 8: chunk times as printed; a stage of 1F1B and ZB-H1 is two chunks.
struct ChunkRow {
  ZeroBubbleSetting setting;
  double rate_1f1b, rate_zb_h1, rate_zb_h2, rate_interleaved;
};

const std::vector<ChunkRow> kTable8{
    {{16, 48, 14407, 14380, 9676, 1610}, 0.2668, 0.1536, 0.0823, 0.1499},
    {{16, 64, 14412, 14393, 9688, 1621}, 0.2206, 0.1198, 0.0630, 0.1169},
    {{16, 128, 14316, 14306, 9639, 1619}, 0.1390, 0.0637, 0.0325, 0.0621},
    {{24, 72, 6763, 6969, 5251, 755}, 0.2699, 0.1439, 0.0628, 0.1519},
    {{24, 96, 6783, 6984, 5259, 758}, 0.2229, 0.1121, 0.0480, 0.1184},
    {{24, 192, 6785, 6990, 5260, 770}, 0.1403, 0.0595, 0.0247, 0.0630},
    {{32, 96, 9458, 9748, 7288, 879}, 0.2676, 0.1429, 0.0629, 0.1509},
    {{32, 128, 9469, 9744, 7306, 892}, 0.2204, 0.1111, 0.0478, 0.1177},
    {{32, 256, 9447, 9644, 7193, 887}, 0.1362, 0.0593, 0.0251, 0.0626},
};

}  // namespace

TEST_CASE("golden: zero-bubble paper, cost and bubble rate of 1F1B, twelve settings") {
  CHECK(kPublished.size() == 12);
  for (const Published& row : kPublished) {
    const ZeroBubbleSetting& s = row.setting;
    check_cost(s, build("1f1b", s.devices, s.microbatches), row.cost_1f1b, row.rate_1f1b);
  }
}

TEST_CASE("golden: zero-bubble paper, cost of interleaved 1F1B with every dependency, twelve settings") {
  for (const Published& row : kPublished) {
    const ZeroBubbleSetting& s = row.setting;
    const Schedule schedule = build("interleaved", s.devices, s.microbatches, row.layers_per_device);
    check_cost(s, schedule, row.cost_interleaved, row.rate_interleaved);
  }
}

TEST_CASE("golden: zero-bubble paper, cost and bubble rate of ZB-H1, twelve settings") {
  for (const Published& row : kPublished) {
    const ZeroBubbleSetting& s = row.setting;
    check_cost(s, build("zb-h1", s.devices, s.microbatches), row.cost_zb_h1, row.rate_zb_h1);
  }
}

TEST_CASE("golden: zero-bubble paper, cost and bubble rate of ZB-H2, twelve settings") {
  for (const Published& row : kPublished) {
    const ZeroBubbleSetting& s = row.setting;
    check_cost(s, build("zb-h2", s.devices, s.microbatches), row.cost_zb_h2, row.rate_zb_h2);
    const Nanoseconds hops = (s.devices - 1) * (s.forward + s.input_grad + 2 * s.hop - 2 * s.weight_grad);
    CHECK(row.cost_zb_h2 * kMicrosecond == s.work() + hops * kMicrosecond);
  }
}

TEST_CASE("golden: zero-bubble paper, rates of 1F1B, ZB-H1 and ZB-H2 in the ZB-V experiment's settings") {
  CHECK(kTable8.size() == 9);
  for (const ChunkRow& row : kTable8) {
    ZeroBubbleSetting s = row.setting;
    for (Nanoseconds* time : {&s.forward, &s.input_grad, &s.weight_grad}) *time *= 2;
    check_cost(s, build("1f1b", s.devices, s.microbatches), 0, row.rate_1f1b);
    check_cost(s, build("zb-h1", s.devices, s.microbatches), 0, row.rate_zb_h1);
    check_cost(s, build("zb-h2", s.devices, s.microbatches), 0, row.rate_zb_h2);
  }
}

// The papers' evaluator checks the way from the last device back to the first for every p-th microbatch only, so the
// printed rates of interleaved 1F1B are too small by up to a twentieth. Ours wait for every input.
TEST_CASE("golden: zero-bubble paper, rates of interleaved 1F1B there: above the printed ones by at most a twentieth") {
  for (const ChunkRow& row : kTable8) {
    ZeroBubbleSetting s = row.setting;
    for (Nanoseconds* time : {&s.forward, &s.input_grad, &s.weight_grad}) *time *= 2;
    const Schedule schedule = build("interleaved", s.devices, s.microbatches, 2);
    const double ours = zero_bubble_rate(totals_of(schedule, costs_of(s, schedule), s.link()).span, s.work());
    CHECK(ours >= row.rate_interleaved - 5.01e-5);
    CHECK(ours <= 1.05 * row.rate_interleaved);
  }
}

TEST_CASE("golden: the report's span bubble ratio is the papers' bubble rate") {
  const ZeroBubbleSetting& s = kPublished[0].setting;
  const Schedule schedule = build("zb-h1", s.devices, s.microbatches);
  const EngineRun run = run_engine(schedule, costs_of(s, schedule), s.link());
  CHECK(std::abs(run.report.span_bubble_ratio - 0.1585) <= 5.01e-5);
  CHECK(run.report.span == 1'310'405'000);
  CHECK(run.report.ideal == s.work());
}

namespace {

// T_F, T_B (input gradient), T_W per stage, in whole units.
struct ZeroBubblePoint {
  std::string schedule;
  int devices, microbatches;
  double f, i, w;
  double makespan, span, work;
  double held;  // bytes kept from I to W, in activations
  std::vector<double> peaks;
};

std::vector<double> zero_bubble_all(int devices, double peak) {
  std::vector<double> peaks(static_cast<std::size_t>(devices), peak);
  return peaks;
}

const std::vector<ZeroBubblePoint> kZeroBubblePoints{
    {"1f1b", 4, 8, 1, 1, 1, 33, 33, 24, 1, {4, 3, 2, 1}},
    {"1f1b", 4, 8, 1, 1, 1, 33, 33, 24, 0.5, {4, 3, 2, 1}},
    {"zb-h1", 4, 8, 1, 1, 1, 27, 27, 24, 1, zero_bubble_all(4, 4)},
    {"zb-h1", 4, 12, 5, 6, 4, 201, 201, 180, 1, zero_bubble_all(4, 4)},
    {"zb-h1", 6, 20, 3, 4, 2, 205, 205, 180, 1, zero_bubble_all(6, 6)},
    {"zb-h1", 8, 24, 1, 1, 1, 79, 79, 72, 1, zero_bubble_all(8, 8)},
    {"zb-h2", 4, 8, 1, 1, 1, 27, 24, 24, 1, zero_bubble_all(4, 7)},
    {"zb-h2", 4, 8, 1, 1, 1, 27, 24, 24, 0.5, {7, 6, 5, 4}},
    {"zb-h2", 4, 12, 5, 6, 4, 195, 189, 180, 1, zero_bubble_all(4, 7)},
    {"zb-h2", 6, 20, 3, 4, 2, 195, 195, 180, 1, zero_bubble_all(6, 11)},
    {"zb-h2", 8, 24, 1, 1, 1, 79, 72, 72, 1, zero_bubble_all(8, 15)},
};

StageCosts costs_of(const ZeroBubblePoint& point, const Schedule& schedule) {
  StageCosts costs = split_costs(schedule, point.f, point.i, point.w, point.held);
  for (StageCost& cost : costs.stages) cost.backward = cost.input_grad + cost.weight_grad;
  return costs;
}

}  // namespace

TEST_CASE("golden: zero-bubble small points without latency") {
  for (const ZeroBubblePoint& point : kZeroBubblePoints) {
    const Schedule schedule = build(point.schedule, point.devices, point.microbatches);
    CAPTURE(describe(schedule));
    const StageCosts costs = costs_of(point, schedule);
    CHECK_EQ(mismatch(schedule, costs, {}, units(point.makespan), point.peaks), "");
    const Totals totals = totals_of(schedule, costs);
    CHECK(totals.span == units(point.span));
    for (const DeviceTotals& device : totals.devices) CHECK(device.busy == units(point.work));
  }
}

TEST_CASE("golden: ZB-H1 peaks where half of an activation is freed at the input gradient") {
  const Schedule schedule = build("zb-h1", 4, 8);
  const Totals totals = totals_of(schedule, split_costs(schedule, 1, 1, 1, 0.5));
  const std::vector<Bytes> peaks{4 * kShare, 7 * kShare / 2, 3 * kShare, 5 * kShare / 2};
  for (std::size_t d = 0; d < 4; ++d) CHECK(totals.devices[d].peak_activation == peaks[d]);
}

TEST_CASE("golden: interleaved 1F1B with chunk times 1, 1, 1") {
  const Schedule schedule = build("interleaved", 4, 8, 2);
  const StageCosts costs = toy_costs(schedule, 2, 4);                            // a device share is two chunks
  CHECK_EQ(mismatch(schedule, costs, {}, units(57), {5.5, 4.5, 3.5, 2.5}), "");  // 11, 9, 7, 5 chunks
  const Totals totals = totals_of(schedule, costs);
  CHECK(totals.span == units(57));
  for (const DeviceTotals& device : totals.devices) CHECK(device.busy == units(48));
}

TEST_CASE("golden: 1F1B and ZB-H1 with latency, p=4 m=8") {
  struct Row {
    double f, i, w, hop, one_f_one_b, zb_h1;
  };
  for (const Row& row : {Row{10, 10, 10, 1, 346, 282}, Row{10, 11, 7, 2, 340, 290}, Row{20, 22, 14, 5, 696, 592}}) {
    CAPTURE(row.f);
    CAPTURE(row.i);
    const Schedule fused = build("1f1b", 4, 8);
    CHECK_EQ(mismatch(fused, toy_costs(fused, row.f, row.i + row.w), {units(row.hop), 0}, units(row.one_f_one_b)), "");
    const Schedule split = build("zb-h1", 4, 8);
    CHECK_EQ(mismatch(split, split_costs(split, row.f, row.i, row.w), {units(row.hop), 0}, units(row.zb_h1)), "");
  }
}

TEST_CASE("golden: chained iterations of 1F1B and ZB-H1 repeat after 33 and 27 units") {
  const Topology free_links = Topology::ideal(0, 0);
  const Schedule fused = build("1f1b", 4, 8);
  const auto period = [&](const Schedule& schedule, const StageCosts& costs) {
    return steady_period(std::get<Program>(lower(schedule)), costs, free_links);
  };
  CHECK(period(fused, toy_costs(fused, 1, 2)) == units(33));
  const Schedule split = build("zb-h1", 4, 8);
  CHECK(period(split, split_costs(split, 1, 1, 1)) == units(27));
}

TEST_CASE("golden: ZB-H2 with latency, p=4 m=8: makespan and span") {
  struct Row {
    double f, i, w, hop, makespan, span;
  };
  for (const Row& row : {Row{10, 10, 10, 1, 273, 246}, Row{10, 11, 7, 2, 260, 257}, Row{20, 22, 14, 5, 523, 520}}) {
    const Schedule schedule = build("zb-h2", 4, 8);
    const StageCosts costs = split_costs(schedule, row.f, row.i, row.w);
    CHECK_EQ(mismatch(schedule, costs, {units(row.hop), 0}, units(row.makespan)), "");
    CHECK(totals_of(schedule, costs, {units(row.hop), 0}).span == units(row.span));
  }
}

TEST_CASE("golden: the orders of ZB-H1 and ZB-H2 for p=2 m=4") {
  const Schedule h1 = build("zb-h1", 2, 4);
  CHECK(order_of(h1, 0) == "F0 F1 I0 W0 F2 I1 W1 F3 I2 W2 I3 W3");
  CHECK(order_of(h1, 1) == "F0 I0 F1 I1 W0 F2 I2 W1 F3 I3 W2 W3");
  const Schedule h2 = build("zb-h2", 2, 4);
  CHECK(order_of(h2, 0) == "F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3");
  CHECK(order_of(h2, 1) == "F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3");
}
