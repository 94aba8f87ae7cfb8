// zb-auto against the zero-bubble paper: costs (spans) to the microsecond, peaks, and orders as printed.
#include "tests/support/planned.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Bytes per token of a layer, without the factors that all layers share: kept for the backward, and from I to W.
Bytes kept(int hidden, int heads) { return Bytes{34} * hidden + Bytes{5} * heads * 1024; }
Bytes held(int hidden) { return Bytes{32} * hidden; }

// Times in microseconds, which the planner takes as nanoseconds: only their ratios count.
struct Setting {
  int hidden, heads;
  int devices, microbatches;
  Nanoseconds forward, input_grad, weight_grad, hop;
  Nanoseconds cost_1p, cost_2p;
  double rate_1p, rate_2p;
};

Case case_of(const Setting& s) {
  return equal_case(s.devices, s.microbatches,
                    {s.forward, s.input_grad, s.weight_grad, kept(s.hidden, s.heads), held(s.hidden)}, s.hop);
}

const std::vector<Setting> kSettings{
    // 1.5B
    {2304, 24, 8, 24, 18522, 18086, 9337, 601, 1310405, 1152599, 0.1585, 0.0433},
    {2304, 24, 8, 32, 18513, 18086, 9331, 626, 1678164, 1475535, 0.1242, 0.0039},
    {2304, 24, 8, 64, 18546, 18097, 9321, 762, 3154286, 2949221, 0.0674, 0.0026},
    // 6.2B
    {4096, 32, 8, 24, 29718, 29444, 19927, 527, 2187537, 1903596, 0.1323, 0.0029},
    {4096, 32, 8, 32, 29802, 29428, 19530, 577, 2814376, 2525780, 0.1045, 0.0022},
    {4096, 32, 8, 64, 29935, 29621, 19388, 535, 5348572, 5057708, 0.0554, 0.0010},
    // 14.6B
    {5120, 40, 16, 48, 11347, 11248, 8132, 377, 1714461, 1484721, 0.1397, 0.0066},
    {5120, 40, 16, 64, 11307, 11254, 8101, 379, 2202008, 1972943, 0.1088, 0.0054},
    {5120, 40, 16, 128, 11325, 11308, 8109, 378, 4175516, 3946061, 0.0576, 0.0028},
    // 28.3B
    {6144, 48, 32, 96, 10419, 10207, 7715, 408, 3171569, 2731004, 0.1421, 0.0038},
    {6144, 48, 32, 128, 10408, 10204, 7703, 408, 4075091, 3634724, 0.1106, 0.0029},
    {6144, 48, 32, 256, 10402, 10248, 7698, 460, 7715640, 7270432, 0.0594, 0.0018},
};

double rate(Nanoseconds cost, Nanoseconds work) { return static_cast<double>(cost - work) / static_cast<double>(cost); }

bool is_published(double ours, double printed) { return std::abs(ours - printed) <= 5.01e-5; }

Nanoseconds span_of(const Case& of, const std::string& limit) {
  return totals_of(plan("zb-auto", of, {{"memory_limit", limit}}), of).span;
}

}  // namespace

TEST_CASE("golden: zb-auto, cost and rate of ZB-1p and ZB-2p in the paper's twelve settings") {
  CHECK(kSettings.size() == 12);
  for (const Setting& setting : kSettings) {
    CAPTURE(setting.devices);
    CAPTURE(setting.microbatches);
    const Case of = case_of(setting);
    CHECK(span_of(of, "1p") == setting.cost_1p);
    CHECK(span_of(of, "2p") == setting.cost_2p);
    CHECK(is_published(rate(span_of(of, "1p"), of.work(0)), setting.rate_1p));
    CHECK(is_published(rate(span_of(of, "2p"), of.work(0)), setting.rate_2p));
  }
}

TEST_CASE("golden: zb-auto, the engine and the reference simulator find the same span") {
  for (const Setting& setting : kSettings) {
    const Case of = case_of(setting);
    const Schedule schedule = plan("zb-auto", of, {{"memory_limit", "2p"}});
    const auto rules = reference::simulate(schedule, of.costs(), of.hop, 0, reference::Mode::kOverlapped);
    CHECK(reference::span_of(rules) == setting.cost_2p);
  }
}

TEST_CASE("golden: zb-auto, the makespan of ZB-2p is longer than its span") {
  const Case of = case_of(kSettings[0]);
  CHECK(totals_of(plan("zb-auto", of, {{"memory_limit", "2p"}}), of).makespan == 1'236'567);
}

TEST_CASE("golden: zb-auto, peak of every device in the paper's settings") {
  const auto peaks = [](const Setting& setting, const char* limit) {
    const Case of = case_of(setting);
    return peaks_of(totals_of(plan("zb-auto", of, {{"memory_limit", limit}}), of), of);
  };
  CHECK(peaks(kSettings[0], "1p") == "8 7.366 6.733 6.099 5.466 4.832 4.198 3.565");
  CHECK(peaks(kSettings[0], "2p") == "15.832 15.565 15.397 14.496 13.229 11.962 10.695 9.427");
  CHECK(peaks(kSettings[3], "2p") == "15.865 15.595 15.324 15.054 14.351 13.216 12.081 10.946");
  CHECK(peaks(kSettings[4], "2p") == "15.892 15.757 15.324 15.054 14.784 14.514 14.243 13.973");
  for (std::size_t k = 6; k < 9; ++k) CHECK(peaks(kSettings[k], "2p").starts_with("31.892 "));
  for (std::size_t k = 9; k < 12; ++k) CHECK(peaks(kSettings[k], "2p").starts_with("64 "));
}

TEST_CASE("golden: zb-auto, memory against bubble rate of 1.5B, m=24") {
  const Case of = case_of(kSettings[0]);
  const std::vector<std::pair<const char*, double>> sweep{{"1p", 0.1585},    {"1.25p", 0.1068}, {"1.5p", 0.0719},
                                                          {"1.75p", 0.0433}, {"2p", 0.0433},    {"2.5p", 0.0433},
                                                          {"3p", 0.0433}};
  for (const auto& [limit, printed] : sweep) CHECK(is_published(rate(span_of(of, limit), of.work(0)), printed));
  // Beyond floor(((p-1)(i+2c) + (2p-1)f)/f) activations the paper promises nothing more.
  CHECK(span_of(of, "22") == span_of(of, "1000"));
}

TEST_CASE("golden: zb-auto, few microbatches of 1.5B: both limits give (m+p-1)(f+i) + w + 2(p-1)c") {
  for (const auto& [m, cost] : {std::pair{2, 347'223}, std::pair{4, 420'439}, std::pair{8, 566'871}}) {
    Setting setting = kSettings[0];
    setting.microbatches = m;
    const Case of = case_of(setting);
    CHECK(span_of(of, "1p") == cost);
    CHECK(span_of(of, "2p") == cost);
  }
}

namespace {

struct ZeroBubbleAutoPoint {
  int devices, microbatches;
  Nanoseconds forward, input_grad, weight_grad, hop;
  const char* limit;
  Nanoseconds span;
  const char* peaks;  // "" where only the span is tabulated
};

}  // namespace

TEST_CASE("golden: zb-auto, small points: spans and peaks where half of an activation is kept until W") {
  const std::vector<ZeroBubbleAutoPoint> points{
      {4, 8, 1, 1, 1, 0, "1p", 27, "4 3.5 3 2.5"},
      {4, 8, 1, 1, 1, 0, "2p", 24, "7.5 6.5 5.5 4.5"},
      {4, 12, 1, 1, 1, 0, "2p", 36, "8 8 7.5 6.5"},
      {8, 24, 1, 1, 1, 0, "8", 79, ""},
      {8, 24, 1, 1, 1, 0, "12", 75, "12 11.5 11 10.5 10.5 10.5 10.5 10.5"},
      {8, 24, 1, 1, 1, 0, "16", 72, "16 16 16 16 15.5 14.5 13.5 12.5"},
      {4, 12, 5, 6, 4, 0, "5", 193, "5 4.5 4.5 4.5"},
      {4, 12, 5, 6, 4, 0, "7", 183, "7 7 6.5 6"},
      {4, 12, 5478, 5806, 3534, 200, "16", 178898, "11 9.5 8 6.5"},
      {32, 16, 1, 1, 1, 0, "32", 95,
       "16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 15.5 14.5 13.5 12.5 11.5 10.5 9.5 8.5"},
      {4, 8, 10, 10, 10, 1, "1p", 282, ""},
      {4, 8, 10, 10, 10, 1, "2p", 246, ""},
      {4, 8, 10, 11, 7, 2, "1p", 290, ""},
      {4, 8, 10, 11, 7, 2, "2p", 250, ""},
      {4, 8, 20, 22, 14, 5, "1p", 592, ""},
      {4, 8, 20, 22, 14, 5, "2p", 506, ""},
      // where CBC proves the span to be the optimum
      {2, 3, 1, 1, 1, 0, "2", 10, ""},
      {3, 4, 1, 1, 1, 0, "3", 14, ""},
      {3, 4, 1, 1, 1, 0, "5", 13, ""},
      {3, 6, 1, 1, 1, 0, "5", 18, ""},
      {3, 5, 5, 6, 4, 1, "3", 97, ""},
      {3, 5, 5, 6, 4, 1, "6", 85, ""},
      {2, 6, 5, 6, 4, 1, "4", 90, ""},
      {4, 4, 1, 1, 1, 0, "4", 15, ""},
      {4, 5, 10, 11, 7, 1, "4", 194, ""},
      {4, 5, 10, 11, 7, 1, "8", 181, ""},
  };
  for (const ZeroBubbleAutoPoint& point : points) {
    CAPTURE(point.devices);
    CAPTURE(point.limit);
    const Case of =
        equal_case(point.devices, point.microbatches, {point.forward, point.input_grad, point.weight_grad}, point.hop);
    const Totals totals = totals_of(plan("zb-auto", of, {{"memory_limit", point.limit}}), of);
    CHECK(totals.span == point.span);
    if (*point.peaks != '\0') CHECK(peaks_of(totals, of) == point.peaks);
  }
}

TEST_CASE("golden: zb-auto, memory in bytes of a measured model") {
  const Case of = equal_case(8, 32, {29850, 29767, 18868, 3720, 1672}, 466);
  const Totals totals = totals_of(plan("zb-auto", of, {{"memory_limit", "59520B"}}), of);
  CHECK(totals.span == 2'517'463);
  CHECK(of.work(0) == 2'511'520);
  CHECK(peaks_of(totals, of) == "15.944 15.843 15.495 15.292 15.09 14.888 14.686 14.484");
}

TEST_CASE("golden: zb-auto, unequal stages: no bubble on the slowest") {
  const std::vector<Nanoseconds> forward{30715, 29233, 29106, 29078, 28850, 28919, 28924, 41678};
  const std::vector<Nanoseconds> input_grad{31308, 29344, 29357, 29455, 29217, 29384, 29354, 38731};
  const std::vector<Nanoseconds> weight_grad{18746, 18789, 19062, 19367, 19455, 19967, 20096, 32833};
  Case of{8, 32, {}, 473};
  for (std::size_t s = 0; s < 8; ++s) {
    const Bytes activation = s == 0 ? 943 : s == 7 ? 1071 : 1240;
    const Bytes kept_until_w = s == 0 ? 410 : s == 7 ? 483 : 552;
    of.passes.push_back({forward[s], input_grad[s], weight_grad[s], activation, kept_until_w});
  }
  const Totals totals = totals_of(plan("zb-auto", of, {{"memory_limit", "19840B"}}), of);
  CHECK(totals.span == 3'623'744);
  CHECK(totals.span == of.work(7));
  for (const DeviceTotals& device : totals.devices) CHECK(device.peak_activation <= 19840);
}

TEST_CASE("golden: zb-auto, the printed orders of p=4 m=8") {
  const Case of = equal_case(4, 8, {10, 11, 7}, 2);
  const Schedule roomy = plan("zb-auto", of, {{"memory_limit", "8"}});
  CHECK(order_of(roomy, 0) == "F0 F1 F2 F3 F4 F5 F6 F7 I0 W0 I1 W1 I2 W2 I3 W3 I4 W4 I5 W5 I6 W6 I7 W7");
  CHECK(order_of(roomy, 1) == "F0 F1 F2 F3 F4 F5 I0 F6 I1 F7 I2 W0 I3 W1 I4 W2 I5 W3 I6 W4 I7 W5 W6 W7");
  CHECK(order_of(roomy, 2) == "F0 F1 F2 I0 F3 I1 F4 I2 F5 I3 F6 I4 F7 I5 W0 I6 W1 I7 W2 W3 W4 W5 W6 W7");
  CHECK(order_of(roomy, 3) == "F0 I0 F1 I1 F2 I2 F3 I3 F4 I4 F5 I5 F6 I6 F7 I7 W0 W1 W2 W3 W4 W5 W6 W7");
  const Schedule tight = plan("zb-auto", of, {{"memory_limit", "4"}});
  CHECK(order_of(tight, 0) == "F0 F1 F2 F3 I0 W0 F4 I1 W1 F5 I2 W2 F6 I3 W3 F7 I4 W4 I5 W5 I6 W6 I7 W7");
  CHECK(order_of(tight, 3) == "F0 I0 F1 I1 F2 I2 F3 I3 W0 F4 I4 W1 F5 I5 W2 F6 I6 W3 F7 I7 W4 W5 W6 W7");
}
