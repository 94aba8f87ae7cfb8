// zb-auto against every order there is: tiny pipelines, all rows that keep the memory limit, each op as early as it
// can.
//
// For two equal stages the search finds the optimum; elsewhere it is greedy, and these tests say how far off it is.
#include "schedules/zero_bubble/zb_auto_search.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

using Row = std::vector<OpKind>;

// All rows of m microbatches, of each kind in ascending order: no F before its I, no I before its W.
void add_rows(int m, int f, int i, int w, Row& row, std::vector<Row>& all) {
  if (w == m) all.push_back(row);
  const auto with = [&](OpKind kind, int next_f, int next_i, int next_w) {
    row.push_back(kind);
    add_rows(m, next_f, next_i, next_w, row, all);
    row.pop_back();
  };
  if (f < m) with(OpKind::kForward, f + 1, i, w);
  if (i < f) with(OpKind::kInputGrad, f, i + 1, w);
  if (w < i) with(OpKind::kWeightGrad, f, i, w + 1);
}

Bytes planned_optimum_peak_of(const Row& row, const AutoStage& stage) {
  Bytes now = 0;
  Bytes peak = 0;
  for (const OpKind kind : row) {
    if (kind == OpKind::kForward) now += stage.activation;
    if (kind == OpKind::kInputGrad) now += stage.held - stage.activation;
    if (kind == OpKind::kWeightGrad) now -= stage.held;
    peak = std::max(peak, now);
  }
  return peak;
}

class EveryOrder {
 public:
  EveryOrder(const std::vector<AutoStage>& stages, int m) : stages_(stages), m_(m), chosen_(stages.size()) {
    std::vector<Row> all;
    Row row;
    add_rows(m, 0, 0, 0, row, all);
    for (const AutoStage& stage : stages) {
      rows_.emplace_back();
      for (const Row& each : all) {
        if (planned_optimum_peak_of(each, stage) <= stage.limit) rows_.back().push_back(each);
      }
    }
  }

  Nanoseconds best() {
    choose(0);
    return best_;
  }

 private:
  struct Lane {
    std::size_t next = 0;
    int f = 0, i = 0;
    Nanoseconds now = 0, first = -1;
    Nanoseconds f_ends[4]{}, i_ends[4]{};
  };

  void choose(std::size_t j) {
    if (j == stages_.size()) {
      best_ = std::min(best_, span());
      return;
    }
    for (const Row& row : rows_[j]) {
      chosen_[j] = &row;
      choose(j + 1);
    }
  }

  // Runs the lane as far as its inputs reach; whether it moved.
  bool advance(std::vector<Lane>& lanes, std::size_t j) const {
    Lane& lane = lanes[j];
    const AutoStage& stage = stages_[j];
    const std::size_t before = lane.next;
    for (; lane.next < chosen_[j]->size(); ++lane.next) {
      const OpKind kind = (*chosen_[j])[lane.next];
      Nanoseconds input = 0;
      if (kind == OpKind::kForward && j > 0) {
        if (lanes[j - 1].f <= lane.f) break;
        input = lanes[j - 1].f_ends[lane.f] + stages_[j - 1].hop;
      }
      if (kind == OpKind::kInputGrad && j + 1 < stages_.size()) {
        if (lanes[j + 1].i <= lane.i) break;
        input = lanes[j + 1].i_ends[lane.i] + stage.hop;
      }
      lane.now = std::max(lane.now, input);
      if (lane.first < 0) lane.first = lane.now;
      if (kind == OpKind::kForward) lane.f_ends[lane.f++] = lane.now += stage.forward;
      if (kind == OpKind::kInputGrad) lane.i_ends[lane.i++] = lane.now += stage.input_grad;
      if (kind == OpKind::kWeightGrad) lane.now += stage.weight_grad;
    }
    return lane.next != before;
  }

  // Of the chosen rows; endless where they deadlock.
  [[nodiscard]] Nanoseconds span() const {
    std::vector<Lane> lanes(stages_.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t j = 0; j < lanes.size(); ++j) moved = advance(lanes, j) || moved;
    }
    Nanoseconds longest = 0;
    for (const Lane& lane : lanes) {
      if (lane.next < 3 * static_cast<std::size_t>(m_)) return std::numeric_limits<Nanoseconds>::max();
      longest = std::max(longest, lane.now - lane.first);
    }
    return longest;
  }

  const std::vector<AutoStage>& stages_;
  int m_;
  std::vector<std::vector<Row>> rows_;
  std::vector<const Row*> chosen_;
  Nanoseconds best_ = std::numeric_limits<Nanoseconds>::max();
};

std::vector<AutoStage> random_stages(Dice& dice, int p, bool equal) {
  std::vector<AutoStage> stages;
  const int limit = dice.from(1, 2 * p);
  for (int j = 0; j < p; ++j) {
    AutoStage stage{dice.from(1, 12), dice.from(1, 12), dice.from(1, 12), dice.from(0, 3), 2, 1, 2 * limit};
    stages.push_back(equal && j > 0 ? stages.front() : stage);
  }
  return stages;
}

struct Tally {
  int cases = 0;
  int optimal = 0;
  double worst = 0;  // how much longer than the optimum, at most
};

Tally tally(int p, int m, bool equal, int cases) {
  Tally result;
  for (int seed = 1; seed <= cases; ++seed) {
    Dice dice(static_cast<std::uint64_t>(seed));
    const std::vector<AutoStage> stages = random_stages(dice, p, equal);
    const Nanoseconds best = EveryOrder(stages, m).best();
    const Nanoseconds found = search_auto_plan(stages, m).span;
    CAPTURE(seed);
    REQUIRE(found >= best);  // else one of the two does not keep the rules
    ++result.cases;
    result.optimal += found == best ? 1 : 0;
    result.worst = std::max(result.worst, static_cast<double>(found - best) / static_cast<double>(best));
  }
  return result;
}

}  // namespace

TEST_CASE("zb-auto finds the optimum of two equal stages") {
  for (const int m : {1, 2, 3}) {
    const Tally result = tally(2, m, true, 100);
    CHECK(result.optimal == result.cases);
  }
}

TEST_CASE("zb-auto finds the optimum of three equal stages and two microbatches") {
  const Tally result = tally(3, 2, true, 100);
  CHECK(result.optimal == result.cases);
}

TEST_CASE("the search of all orders and zb-auto find what an integer program proves for p=2 m=3") {
  const std::vector<AutoStage> two(2, {1, 1, 1, 0, 2, 1, 4});
  CHECK(EveryOrder(two, 3).best() == 10);
  CHECK(search_auto_plan(two, 3).span == 10);
}

TEST_CASE("zb-auto is greedy: at most 15 % above the optimum of tiny pipelines, and mostly there") {
  for (const int m : {2, 3}) {
    const Tally unequal = tally(2, m, false, 100);
    CHECK(unequal.optimal >= 90);
    CHECK(unequal.worst <= 0.15);
  }
  const Tally three = tally(3, 2, false, 60);
  CHECK(three.optimal >= 50);
  CHECK(three.worst <= 0.15);
  const Tally larger = tally(3, 3, true, 16);
  CHECK(larger.optimal >= 12);
  CHECK(larger.worst <= 0.15);
}
