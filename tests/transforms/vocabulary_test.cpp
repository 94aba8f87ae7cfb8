// vocabulary-parallel: the paper's peaks, 1F1B's bubble, and every other insertion on tiny cases.
#include "sim/rows/check.hpp"
#include "tests/support/test.hpp"
#include "tests/transforms/transformed.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

constexpr Nanoseconds kMs = kNanosecondsPerMillisecond;

PlanningCosts shard_costs(const Schedule& schedule, Nanoseconds logits, Nanoseconds gradient) {
  PlanningCosts costs = unit_costs(schedule);
  costs.costs.vocabulary = VocabularyCost{.logits = logits, .gradient = gradient, .barrier = 0, .held = 0};
  return costs;
}

// The best makespan of 1F1B's ops with S and T at any place of any row, the other ops of a row in any order in which
// forwards and backwards stay in order, and no more than `most` microbatches in flight on device 0.
class EveryInsertion {
 public:
  EveryInsertion(Schedule schedule, const PlanningCosts& costs, int most)
      : schedule_(std::move(schedule)), costs_(costs), most_(most) {
    for (auto& row : schedule_.rows) row.clear();
  }

  Nanoseconds best() {
    fill(0, 0, 0, 0, 0);
    return best_;
  }

 private:
  void fill(std::size_t device, int forwards, int backwards, int logits, int gradients) {
    const int m = schedule_.microbatches;
    std::vector<Op>& row = schedule_.rows[device];
    if (backwards == m && gradients == m) {
      if (device + 1 < schedule_.rows.size()) return fill(device + 1, 0, 0, 0, 0);
      if (!find_deadlock(schedule_)) best_ = std::min(best_, time_rows(schedule_, costs_).makespan);
      return;
    }
    const auto with = [&](OpKind kind, int number, auto next) {
      row.push_back({kind, false, static_cast<std::int32_t>(device), number});
      next();
      row.pop_back();
    };
    const int room = most_ - static_cast<int>(device);
    if (forwards < m && forwards - backwards < room) {
      with(OpKind::kForward, forwards, [&] { fill(device, forwards + 1, backwards, logits, gradients); });
    }
    if (backwards < forwards) {
      with(OpKind::kBackward, backwards, [&] { fill(device, forwards, backwards + 1, logits, gradients); });
    }
    if (logits < m) {
      with(OpKind::kVocabularyLogits, logits, [&] { fill(device, forwards, backwards, logits + 1, gradients); });
    }
    if (gradients < logits) {
      with(OpKind::kVocabularyGradient, gradients, [&] { fill(device, forwards, backwards, logits, gradients + 1); });
    }
  }

  Schedule schedule_;
  const PlanningCosts& costs_;
  int most_;
  Nanoseconds best_ = std::numeric_limits<Nanoseconds>::max();
};

}  // namespace

TEST_CASE("1F1B holds p + 1 activations with one barrier and p + 2 with two") {
  for (const int p : {2, 4, 8}) {
    for (const int m : {2 * p, 4 * p, 8 * p}) {
      for (const int barriers : {1, 2}) {
        const Schedule base = build("1f1b", p, m);
        const PlanningCosts costs = shard_costs(base, kMs / 4, kMs / 4);
        const Schedule schedule =
            transformed("vocabulary-parallel", base, {{"barriers", std::to_string(barriers)}}, &costs);
        CHECK(peaks(schedule, costs.costs)[0] == p + barriers);
      }
    }
  }
}

TEST_CASE("with S and T on all devices the bubble is no larger than balanced 1F1B's") {
  for (const auto& [logits, gradient] :
       {std::pair{kMs / 10, kMs / 10}, {kMs / 4, kMs / 4}, {kMs, kMs}, {kMs / 2, kMs / 4}}) {
    for (const int p : {2, 4, 8}) {
      for (const int m : {p, 2 * p, 8 * p}) {
        for (const char* barriers : {"1", "2"}) {
          const Schedule base = build("1f1b", p, m);
          const PlanningCosts costs = shard_costs(base, logits, gradient);
          const Schedule schedule = transformed("vocabulary-parallel", base, {{"barriers", barriers}}, &costs);
          const Nanoseconds found = totals_of(schedule, costs.costs).makespan;
          CAPTURE(p);
          CAPTURE(m);
          CAPTURE(barriers);
          CHECK(found <= (m + p - 1) * (3 * kMs + logits + gradient));
          CHECK(found >= m * (3 * kMs + logits + gradient));
        }
      }
    }
  }
}

TEST_CASE("on tiny cases every insertion at the same memory is at most a pass shorter") {
  for (const int m : {1, 2}) {
    for (const int barriers : {1, 2}) {
      const Schedule base = build("1f1b", 2, m);
      const PlanningCosts costs = shard_costs(base, kMs / 2, kMs / 2);
      const Schedule schedule =
          transformed("vocabulary-parallel", base, {{"barriers", std::to_string(barriers)}}, &costs);
      const Nanoseconds best = EveryInsertion(schedule, costs, 2 + barriers).best();
      const Nanoseconds found = time_rows(schedule, costs).makespan;
      CAPTURE(m);
      CAPTURE(barriers);
      CHECK(best <= found);
      CHECK(found <= best + kMs);
    }
  }
}
