// V-Half and V-Min against the authors' scheduler: spans and peaks with measured times, printed orders, and what their
// playground says of bubbles and peaks.
#include "tests/support/catalog_requests.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Times of one chunk and one hop, in any unit; the authors' span of each schedule and its peak in chunks.
struct Point {
  int devices, microbatches;
  double f, i, w, hop;
  double work;
  double v_min;
  int v_min_peak;
  double v_half;
  int v_half_peak;
};

const std::vector<Point> kPoints{
    {4, 8, 1, 1, 1, 0, 48, 59, 4, 53, 6},
    {4, 12, 1, 1, 1, 0, 72, 83, 4, 77, 6},
    {5, 15, 1, 1, 1, 0, 90, 105, 6, 101, 6},
    {6, 18, 1, 1, 1, 0, 108, 125, 6, 119, 8},
    {8, 24, 1, 1, 1, 0, 144, 171, 8, 161, 10},
    {8, 64, 1, 1, 1, 0, 384, 411, 8, 401, 10},
    {16, 48, 1, 1, 1, 0, 288, 347, 12, 329, 18},
    {32, 128, 1, 1, 1, 0, 768, 0, 0, 857, 34},  // V-Min was not published there
    {4, 12, 3, 4, 2, 0, 216, 322, 4, 245, 6},
    {8, 24, 4959, 5217, 3519, 213, 657360, 915753, 8, 769413, 10},
    {16, 64, 14412, 14393, 9688, 1621, 4927104, 7046295, 12, 5764729, 18},
};

StageCosts chunk_costs(const Schedule& schedule, double f, double i, double w) {
  return split_costs(schedule, f * schedule.chunks, i * schedule.chunks, w * schedule.chunks);
}

void check_point(const Schedule& schedule, const Point& point, double span, int peak) {
  CAPTURE(describe(schedule));
  const StageCosts costs = chunk_costs(schedule, point.f, point.i, point.w);
  const HopFigures link{units(point.hop), 0};
  CHECK_EQ(mismatch(schedule, costs, link, units(span)), "");
  const Totals totals = totals_of(schedule, costs, link);
  CHECK(totals.span == units(span));
  Bytes highest = 0;
  for (const DeviceTotals& device : totals.devices) {
    CHECK(device.busy == units(point.work));
    highest = std::max(highest, device.peak_activation);
  }
  CHECK(highest == peak * kShare / 2);
}

// "0F0 0F1 ...": upper case in the authors' strings is the chunk a pass meets first; here it is the stage that tells.
std::string row_of(const Schedule& schedule, std::size_t device) {
  std::string text;
  for (const Op& op : schedule.rows.at(device)) text += (text.empty() ? "" : " ") + to_string(op);
  return text;
}

// The same from the authors' letters: F/f are stages d and 2p-1-d; B/b and W/w are stages 2p-1-d and d.
std::string spelt_out(const std::string& letters, int devices, int device) {
  const int late = 2 * devices - 1 - device;
  std::string text;
  for (const char c : letters) {
    const bool forward = c == 'F' || c == 'f';
    const bool first = c >= 'A' && c <= 'Z';
    const std::string stage = std::to_string(forward == first ? device : late);
    if (forward) text += stage + "F";
    if (c == 'B' || c == 'b') text += stage + "I";
    if (c == 'W' || c == 'w') text += stage + "W";
    if (c == ' ' || (c >= '0' && c <= '9')) text += c;
  }
  return text;
}

}  // namespace

TEST_CASE("golden: V-Half's and V-Min's spans and peaks, eleven settings") {
  for (const Point& point : kPoints) {
    if (point.v_min > 0) {
      check_point(build("v-min", point.devices, point.microbatches), point, point.v_min, point.v_min_peak);
    }
    check_point(build("v-half", point.devices, point.microbatches), point, point.v_half, point.v_half_peak);
  }
}

TEST_CASE("golden: V-Half and V-Min with latency, p=4 m=8") {
  struct Row {
    double f, i, w, hop, v_min, v_half;  // times of a whole stage; a chunk takes half of them
  };
  for (const Row& row : {Row{10, 10, 10, 1, 335, 287}, Row{10, 11, 7, 2, 398.5, 306}, Row{20, 22, 14, 5, 837, 642}}) {
    CAPTURE(row.f);
    CAPTURE(row.i);
    const HopFigures link{units(row.hop), 0};
    const Schedule smallest = build("v-min", 4, 8);
    CHECK_EQ(mismatch(smallest, split_costs(smallest, row.f, row.i, row.w), link, units(row.v_min)), "");
    const Schedule half = build("v-half", 4, 8);
    CHECK_EQ(mismatch(half, split_costs(half, row.f, row.i, row.w), link, units(row.v_half)), "");
  }
}

TEST_CASE("golden: orders of V-Half and V-Min as printed, p=4 m=4") {
  const Schedule half = build("v-half", 4, 4);
  CHECK(row_of(half, 0) == spelt_out("F0 F1 F2 F3 f0 B0 W0 f1 B1 W1 f2 b0 B2 W2 f3 w0 b1 B3 W3 w1 b2 w2 b3 w3", 4, 0));
  CHECK(row_of(half, 3) == spelt_out("F0 f0 F1 f1 F2 f2 B0 W0 b0 w0 F3 f3 B1 W1 b1 w1 B2 W2 b2 w2 B3 W3 b3 w3", 4, 3));
  CHECK(totals_of(half, chunk_costs(half, 1, 1, 1)).span == units(34));
  const Schedule smallest = build("v-min", 4, 4);
  CHECK(row_of(smallest, 0) ==
        spelt_out("F0 F1 F2 f0 B0 W0 f1 B1 W1 b0 w0 F3 f2 B2 b1 W2 w1 f3 B3 b2 W3 w2 b3 w3", 4, 0));
  CHECK(row_of(smallest, 3) ==
        spelt_out("F0 f0 F1 f1 B0 b0 W0 w0 F2 f2 B1 b1 W1 w1 F3 f3 B2 b2 W2 w2 B3 b3 W3 w3", 4, 3));
  CHECK(totals_of(smallest, chunk_costs(smallest, 1, 1, 1)).span == units(35));
}

TEST_CASE("golden: V-Half's and V-Min's bubbles in equal passes do not depend on m") {
  struct Bubbles {
    int devices, v_min, v_half;
  };
  for (const Bubbles& row : {Bubbles{4, 11, 5}, {5, 15, 11}, {6, 17, 11}, {8, 27, 17}, {16, 59, 41}}) {
    for (const int more : {0, 1, 2, 5, 11}) {
      const int m = 2 * row.devices + more;
      CAPTURE(m);
      const Schedule smallest = build("v-min", row.devices, m);
      CHECK_EQ(mismatch(smallest, chunk_costs(smallest, 1, 1, 1), {}, units(6 * m + row.v_min)), "");
      const Schedule half = build("v-half", row.devices, m);
      CHECK_EQ(mismatch(half, chunk_costs(half, 1, 1, 1), {}, units(6 * m + row.v_half)), "");
    }
  }
}

TEST_CASE("golden: peaks of V-Half and V-Min are (p+2) div 2 and (p+4) div 3 microbatches") {
  for (int p = 2; p <= 16; ++p) {
    CAPTURE(p);
    const auto highest = [&](const char* name) {
      const Schedule schedule = build(name, p, 2 * p);
      Bytes most = 0;
      for (const DeviceTotals& device : totals_of(schedule, chunk_costs(schedule, 1, 1, 1)).devices) {
        most = std::max(most, device.peak_activation);
      }
      return most;
    };
    CHECK(highest("v-half") == (p + 2) / 2 * kShare);
    CHECK(highest("v-min") == (p + 4) / 3 * kShare);
  }
}

TEST_CASE(
    "V-Half keeps a steady state without bubbles iff w + 2i >= 2f and w + 2f >= 2i, V-Min only with equal times") {
  const auto loss_per_microbatch = [](const char* name, double f, double i, double w) {
    const Schedule some = build(name, 6, 24);
    const Schedule more = build(name, 6, 36);
    const Nanoseconds added =
        totals_of(more, chunk_costs(more, f, i, w)).makespan - totals_of(some, chunk_costs(some, f, i, w)).makespan;
    return added - 12 * units(2 * (f + i + w));
  };
  CHECK(loss_per_microbatch("v-half", 3, 4, 2) == 0);
  CHECK(loss_per_microbatch("v-half", 4, 3, 2) == 0);
  CHECK(loss_per_microbatch("v-half", 4, 3, 1) > 0);  // w + 2i = 7 < 2f = 8
  CHECK(loss_per_microbatch("v-half", 3, 4, 1) > 0);
  CHECK(loss_per_microbatch("v-min", 3, 3, 3) == 0);
  CHECK(loss_per_microbatch("v-min", 3, 4, 2) > 0);
}

TEST_CASE("refused: V-Half and V-Min on one device, or with other than two stages per device") {
  for (const char* name : {"v-half", "v-min"}) {
    CHECK_THROWS_WITH_AS((void)build(name, 1, 4), doctest::Contains("at least 2 devices"), InputError);
    for (const int chunks : {1, 3, 4}) {
      CHECK_THROWS_WITH_AS((void)build(name, 4, 8, chunks), doctest::Contains("exactly 2 stages"), InputError);
    }
    CHECK(build(name, 4, 8, 2).rows == build(name, 4, 8).rows);
    for (const int m : {1, 2, 3}) CHECK(build(name, 2, m).total_ops() == 2UL * 6UL * static_cast<std::size_t>(m));
  }
}
