// The exact balance, in two steps: the least possible slowest stage by binary search, then the most even partition
// within that bound by dynamic programming over suffixes, whose best cut is found by divide and conquer.
//
// Invariant of the search: no partition is within `low - 1`, one is within `high`; some_cut tells. Invariant of the
// suffixes: `best_[begin]` is the least sum of squares of the layers from `begin` on over one stage less. Squares are
// convex, so a suffix that begins later is never best cut earlier: the middle's cut bounds those on both of its sides.
#include "cost_models/partition/balance.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "cost_models/partition/stage_cuts.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/wide.hpp"

namespace debubble {
namespace {

// Splits layers [0, n) into stages; cut positions are indices into the prefix sums.
class Balancer {
 public:
  Balancer(std::vector<Nanoseconds> sums, int stages)
      : sums_(std::move(sums)), layers_(static_cast<int>(sums_.size()) - 1), stages_(stages) {}

  std::vector<int> solve() {
    bound_ = least_bound();
    find_earliest_starts();
    best_.assign(to_index(layers_) + 1, 0);
    first_cut_.resize(to_index(stages_) + 1);
    for (int stage_count = 1; stage_count <= stages_; ++stage_count) solve_suffixes(stage_count);
    return cut_up();
  }

 private:
  [[nodiscard]] Nanoseconds load(int begin, int end) const { return sums_[to_index(end)] - sums_[to_index(begin)]; }

  [[nodiscard]] bool fits(Nanoseconds bound) const {
    return some_cut(stages_, layers_, [&](int, int begin, int end) { return load(begin, end) <= bound; });
  }

  // The last end such that layers [begin, end) stay within the bound; at least one layer is taken.
  [[nodiscard]] int farthest_end(int begin, Nanoseconds bound) const {
    const auto past = std::upper_bound(sums_.begin() + begin + 1, sums_.end(), sums_[to_index(begin)] + bound);
    return std::max(begin + 1, static_cast<int>(past - sums_.begin()) - 1);
  }

  [[nodiscard]] Nanoseconds least_bound() const {
    Nanoseconds low = 0;
    for (int layer = 0; layer < layers_; ++layer) low = std::max(low, load(layer, layer + 1));
    // Stages that take layers until they hold more than the mean are no more than there may be.
    const Nanoseconds mean = sums_.back() / stages_;
    Nanoseconds high = std::min(sums_.back(), mean + 1 + low);
    low = std::max(low, mean);
    while (low < high) {
      const Nanoseconds middle = low + (high - low) / 2;
      if (fits(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  // earliest_[k]: the first layer from which k stages within the bound can reach the end.
  void find_earliest_starts() {
    earliest_.assign(1, layers_);
    for (int k = 1; k <= stages_; ++k) {
      const Nanoseconds target = sums_[to_index(earliest_.back())] - bound_;
      const auto first = std::lower_bound(sums_.begin(), sums_.end(), target);
      earliest_.push_back(static_cast<int>(first - sums_.begin()));
    }
  }

  // The most even partition is that with the least sum of squared stage times: the sum of the times is fixed. A state
  // is a suffix that begins at `begin` and gets `stage_count` non-empty stages.
  void solve_suffixes(int stage_count) {
    std::vector<WideUnsigned> next(to_index(layers_) + 1, 0);
    std::vector<int>& cuts = first_cut_[to_index(stage_count)];
    cuts.assign(to_index(layers_) + 1, layers_);
    const int low = earliest_[to_index(stage_count)];
    const int high = layers_ - stage_count;
    solve_range(stage_count, low, high, low + 1, layers_ - stage_count + 1, next, cuts);
    best_ = std::move(next);
  }

  void solve_range(int stage_count, int low, int high, int first, int last, std::vector<WideUnsigned>& next,
                   std::vector<int>& cuts) {
    if (low > high) return;
    const int middle = low + (high - low) / 2;
    const int from = std::max({first, middle + 1, earliest_[to_index(stage_count - 1)]});
    const int to = std::min({last, farthest_end(middle, bound_), layers_ - stage_count + 1});
    WideUnsigned least = std::numeric_limits<WideUnsigned>::max();
    for (int cut = from; cut <= to; ++cut) {
      const auto time = static_cast<WideUnsigned>(load(middle, cut));
      const WideUnsigned sum = time * time + best_[to_index(cut)];
      if (sum >= least) continue;
      least = sum;
      cuts[to_index(middle)] = cut;
    }
    next[to_index(middle)] = least;
    solve_range(stage_count, low, middle - 1, first, cuts[to_index(middle)], next, cuts);
    solve_range(stage_count, middle + 1, high, cuts[to_index(middle)], last, next, cuts);
  }

  [[nodiscard]] std::vector<int> cut_up() const {
    std::vector<int> sizes;
    int begin = 0;
    for (int stage_count = stages_; stage_count > 0; --stage_count) {
      const int end = first_cut_[to_index(stage_count)][to_index(begin)];
      sizes.push_back(end - begin);
      begin = end;
    }
    return sizes;
  }

  std::vector<Nanoseconds> sums_;
  int layers_;
  int stages_;
  Nanoseconds bound_ = 0;
  std::vector<int> earliest_;
  std::vector<WideUnsigned> best_;           // per begin, for one stage less than is being solved
  std::vector<std::vector<int>> first_cut_;  // per stage count and begin
};

}  // namespace

std::vector<Nanoseconds> layer_sums(const std::vector<Nanoseconds>& times) {
  constexpr Nanoseconds kLargestSum = Nanoseconds{1} << 61;
  std::vector<Nanoseconds> sums{0};
  sums.reserve(times.size() + 1);
  for (const Nanoseconds time : times) {
    if (time > kLargestSum - sums.back()) {
      throw InputError({"L007", "", "the times of all layers together overflow",
                        "check the layers' times, or the sizes that a --model was given"});
    }
    sums.push_back(sums.back() + time);
  }
  return sums;
}

std::vector<int> balanced_partition(const Profile& profile, int stages) {
  const auto layers = static_cast<std::int64_t>(profile.layers.size());
  constexpr std::int64_t kMostCuts = std::int64_t{1} << 28;  // a gigabyte of them
  if (layers * stages > kMostCuts) {
    throw InputError(
        {"S063", "--partition",
         std::to_string(layers) + " layers on " + std::to_string(stages) + " stages are too many to balance",
         "name the layers of each stage: --partition a,b,c"});
  }
  if (stages < 1) {
    throw InputError({"L004", "--partition", "a pipeline has at least one stage; got " + std::to_string(stages), ""});
  }
  if (layers < stages) {
    throw InputError({"L004", "--partition",
                      std::to_string(stages) + " stages need at least as many layers; " + profile.model + " has " +
                          std::to_string(layers),
                      "use at most " + std::to_string(layers) + " stages (devices times chunks)"});
  }
  std::vector<Nanoseconds> times;
  times.reserve(profile.layers.size());
  for (const ProfileLayer& layer : profile.layers) times.push_back(layer_time(layer));
  return Balancer(layer_sums(times), stages).solve();
}

}  // namespace debubble
