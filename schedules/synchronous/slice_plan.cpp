#include "schedules/synchronous/slice_plan.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace debubble {

namespace {

class Planner {
 public:
  Planner(int tokens, const SliceCost& cost) : tokens_(static_cast<std::size_t>(tokens)) {
    table_.resize((tokens_ + 1) * (tokens_ + 1));
    for (std::size_t context = 0; context < tokens_; ++context) {
      for (std::size_t length = 1; context + length <= tokens_; ++length) {
        const auto l = static_cast<std::int64_t>(length);
        time(length, context) = slice_cost(cost, l, static_cast<std::int64_t>(context));
        bounds_.push_back(time(length, context));
      }
    }
    std::sort(bounds_.begin(), bounds_.end());
    bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
  }

  [[nodiscard]] const std::vector<std::int64_t>& bounds() const { return bounds_; }

  // The cheapest cut whose slices cost no more than `bound`; nothing where not even single tokens keep to it.
  [[nodiscard]] std::optional<SlicePlan> cheapest(std::int64_t bound) const {
    constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> best(tokens_ + 1, kNever);
    std::vector<std::size_t> last(tokens_ + 1, 0);
    best[0] = 0;
    for (std::size_t end = 1; end <= tokens_; ++end) {
      for (std::size_t length = 1; length <= end; ++length) {
        const std::int64_t t = time(length, end - length);
        if (t > bound || best[end - length] == kNever || best[end - length] + t >= best[end]) continue;
        best[end] = best[end - length] + t;
        last[end] = length;
      }
    }
    if (best[tokens_] == kNever) return std::nullopt;
    SlicePlan plan;
    plan.total = best[tokens_];
    for (std::size_t end = tokens_; end > 0; end -= last[end]) {
      plan.lengths.push_back(static_cast<int>(last[end]));
      plan.longest = std::max(plan.longest, time(last[end], end - last[end]));
    }
    std::reverse(plan.lengths.begin(), plan.lengths.end());
    return plan;
  }

 private:
  [[nodiscard]] std::int64_t& time(std::size_t length, std::size_t context) {
    return table_[length * (tokens_ + 1) + context];
  }
  [[nodiscard]] std::int64_t time(std::size_t length, std::size_t context) const {
    return table_[length * (tokens_ + 1) + context];
  }

  std::size_t tokens_;
  std::vector<std::int64_t> table_;   // cost of a slice by length and context
  std::vector<std::int64_t> bounds_;  // all of them, rising
};

}  // namespace

SlicePlan plan_slices(int tokens, int stages, int microbatches, const SliceCost& cost) {
  const Planner planner(tokens, cost);
  const auto pipeline_time = [&](std::int64_t total, std::int64_t longest) {
    return microbatches * total + (stages - 1) * longest;
  };
  // No bound at all gives the least total there is, and a first best.
  SlicePlan best = *planner.cheapest(planner.bounds().back());
  const std::int64_t least_total = best.total;
  for (const std::int64_t bound : planner.bounds()) {
    if (pipeline_time(least_total, bound) >= pipeline_time(best.total, best.longest)) break;
    const std::optional<SlicePlan> plan = planner.cheapest(bound);
    if (plan && pipeline_time(plan->total, plan->longest) < pipeline_time(best.total, best.longest)) best = *plan;
  }
  return best;
}

}  // namespace debubble
