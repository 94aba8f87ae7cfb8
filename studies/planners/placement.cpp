#include "studies/planners/placement.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "sim/core/at.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/stages.hpp"

namespace debubble {

namespace {

constexpr Nanoseconds kNotPlaced = std::numeric_limits<Nanoseconds>::max();

// Whether exchanging two devices changes nothing: one type, and the same links to everybody else.
bool interchangeable(const PlannerJob& job, int one, int other) {
  if (at(job.devices, one) != at(job.devices, other)) return false;
  for (int third = 0; third < job.device_count(); ++third) {
    if (third == one || third == other) continue;
    if (pair_bandwidth(job, one, third) != pair_bandwidth(job, other, third) ||
        pair_bandwidth(job, third, one) != pair_bandwidth(job, third, other)) {
      return false;
    }
  }
  return true;
}

class PlacementSearch {
 public:
  PlacementSearch(const PlannerJob& job, const PlacementOptions& options)
      : job_(job), options_(options), sums_(job), worths_(job) {
    for (int device = 0; device < job.device_count(); ++device) {
      std::vector<int> twins;
      for (int before = 0; before < device; ++before) {
        if (interchangeable(job, before, device)) twins.push_back(before);
      }
      twins_.push_back(std::move(twins));
    }
  }

  DevicePlacement run(int least, int most) {
    for (int count = most; count >= least; --count) start(count);
    improve();
    exact_ = true;
    for (int count = most; count >= least && exact_; --count) {
      stages_ = count;
      used_.assign(job_.devices.size(), false);
      place(0, 0, 0, 0);
    }
    best_.exact = exact_ && best_.worth.step != kNotPlaced && best_.worth.fits;
    return best_;
  }

 private:
  // The devices in the order given, cut for the least slowest stage; and without the slowest of them.
  void start(int count) {
    std::vector<int> order(job_.devices.size());
    std::iota(order.begin(), order.end(), 0);
    try_balanced({order.begin(), order.begin() + count});
    if (options_.given_order && count == job_.device_count()) return;
    std::stable_sort(order.begin(), order.end(), [&](int one, int other) { return factor(one) < factor(other); });
    order.resize(to_index(count));
    std::sort(order.begin(), order.end());
    try_balanced(order);
  }

  void try_balanced(const std::vector<int>& order) {
    const auto count = static_cast<int>(order.size());
    for (const bool memory : {true, false}) {
      const LeastLargest cuts = least_largest(0, job_.layer_count(), count, [&](int stage, int begin, int end) {
        if (memory && !may_fit(stage, count, at(order, stage), begin, end)) {
          return std::numeric_limits<double>::infinity();
        }
        return static_cast<double>(sums_.time(begin, end)) * factor(at(order, stage));
      });
      if (cuts.largest == std::numeric_limits<double>::infinity()) continue;
      std::vector<PlannerStage> stages = stages_of_cuts(cuts.cuts, job_.layer_count());
      for (int stage = 0; stage < count; ++stage) at(stages, stage).devices = {at(order, stage)};
      consider(stages);
    }
  }

  [[nodiscard]] bool ops_left() const { return ops_ < options_.most_ops; }

  // Simulates; whether it is the best so far.
  bool consider(const std::vector<PlannerStage>& stages) {
    ops_ += 2 * static_cast<std::int64_t>(stages.size()) * job_.microbatches;
    PlannerDecision decision;
    decision.stages = stages;
    const DecisionWorth worth = worths_.of(decision);
    const auto order = [](const DecisionWorth& one) {
      return one.fits ? std::pair(one.step, Bytes{0}) : std::pair(kNotPlaced - 1, one.peak_memory);
    };
    if (!best_.stages.empty() && order(worth) >= order(best_.worth)) return false;
    best_.stages = stages;
    best_.worth = worth;
    return true;
  }

  // Exchanges of devices and moves of cuts, until none is better.
  void improve() {
    bool better = true;
    while (better && ops_left()) {
      better = false;
      const auto count = static_cast<int>(best_.stages.size());
      for (int stage = 0; stage < count && ops_left(); ++stage) {
        better = (!options_.given_order && exchange_from(stage)) || better;
        if (stage + 1 < count) better = move_cut(stage, 1) || move_cut(stage, -1) || better;
      }
    }
  }

  bool exchange_from(int stage) {
    for (int device = 0; device < job_.device_count() && ops_left(); ++device) {
      std::vector<PlannerStage> stages = best_.stages;
      int& own = at(stages, stage).devices.front();
      if (device == own || interchangeable(job_, device, own)) continue;
      const auto other = std::find_if(stages.begin(), stages.end(),
                                      [&](const PlannerStage& one) { return one.devices.front() == device; });
      if (other != stages.end()) other->devices.front() = own;
      own = device;
      if (consider(stages)) return true;
    }
    return false;
  }

  bool move_cut(int stage, int by) {
    std::vector<PlannerStage> stages = best_.stages;
    PlannerStage& before = at(stages, stage);
    PlannerStage& behind = at(stages, stage + 1);
    before.end += by;
    behind.begin += by;
    return before.begin < before.end && behind.begin < behind.end && consider(stages);
  }

  // Depth first: stage after stage, device after device, end after end. `ahead`: forwards of the stages before, and
  // what crosses the cuts; `behind`: the same of the backwards.
  void place(int stage, int begin, double ahead, double behind) {
    if (stage == stages_) {
      if (!ops_left()) exact_ = false;
      if (exact_) consider(placed_);
      return;
    }
    // In the order given a stage is on none of the devices before the last stage's.
    const int first = options_.given_order && stage > 0 ? at(placed_, stage - 1).devices.front() + 1 : 0;
    for (int device = first; device < job_.device_count() && exact_; ++device) {
      if (used_[to_index(device)] || has_free_twin(device, first)) continue;
      const double cut = stage == 0 ? 0 : transfer(at(placed_, stage - 1), device);
      const int last = job_.layer_count() - (stages_ - stage - 1);
      for (int end = stage + 1 == stages_ ? last : begin + 1; end <= last && exact_; ++end) {
        if (++steps_ > options_.most_steps) {
          exact_ = false;
          return;
        }
        const double forward = static_cast<double>(sums_.forward(begin, end)) * factor(device);
        const double both = static_cast<double>(sums_.time(begin, end)) * factor(device);
        const double fill = ahead + cut;
        const double drain = behind + cut;
        // Longer stages are no shorter: nothing further on can be better either, but only where times are not negative.
        if (fill + drain + both * job_.microbatches >= limit()) break;
        if (!may_fit(stage, stages_, device, begin, end)) continue;
        used_[to_index(device)] = true;
        if (fill + drain + both + rest(stage, end) < limit()) {
          placed_.resize(to_index(stage));
          placed_.push_back({begin, end, 1, {device}});
          place(stage + 1, end, fill + forward, drain + both - forward);
        }
        used_[to_index(device)] = false;
      }
    }
  }

  // Durations are rounded up to whole nanoseconds, so that a bound in fractions is never above them; a nanosecond is
  // left for the fractions' own rounding.
  [[nodiscard]] double limit() const {
    return best_.stages.empty() || !best_.worth.fits ? std::numeric_limits<double>::infinity()
                                                     : static_cast<double>(best_.worth.step) + 1;
  }

  // The least time of the layers from `begin` on, on the quickest devices that are left.
  [[nodiscard]] double rest(int stage, int begin) const {
    const int left = stages_ - stage - 1;
    if (left == 0) return 0;
    std::vector<double> speeds;
    for (int device = 0; device < job_.device_count(); ++device) {
      if (!used_[to_index(device)]) speeds.push_back(1 / factor(device));
    }
    std::sort(speeds.rbegin(), speeds.rend());
    const double speed = std::accumulate(speeds.begin(), speeds.begin() + left, 0.0);
    return static_cast<double>(sums_.time(begin, job_.layer_count())) / speed * job_.microbatches;
  }

  // Weights, their state, and the activations in flight: no less is held.
  [[nodiscard]] bool may_fit(int stage, int count, int device, int begin, int end) const {
    const Bytes memory = at(job_.types, at(job_.devices, device)).memory;
    const int flight = std::min(count - stage, job_.microbatches);
    return memory == 0 ||
           sums_.parameters(begin, end) + sums_.state(begin, end) + flight * sums_.activation(begin, end) <= memory;
  }

  [[nodiscard]] double transfer(const PlannerStage& from, int device) const {
    const auto bandwidth = static_cast<double>(card_bandwidth(job_, from.devices.front(), device));
    if (bandwidth >= static_cast<double>(kUnlimitedLink)) return 0;
    return static_cast<double>(at(job_.layers, from.end - 1).output) / bandwidth * 1e9;
  }

  [[nodiscard]] double factor(int device) const { return at(job_.types, at(job_.devices, device)).time_factor; }

  // Of devices that are alike, and that a stage may still be on, the first is taken first.
  [[nodiscard]] bool has_free_twin(int device, int first) const {
    return std::any_of(at(twins_, device).begin(), at(twins_, device).end(),
                       [&](int twin) { return twin >= first && !used_[to_index(twin)]; });
  }

  const PlannerJob& job_;
  PlacementOptions options_;
  PlannerSums sums_;
  DecisionWorths worths_;
  std::vector<std::vector<int>> twins_;  // by device: those before it that it is interchangeable with
  DevicePlacement best_;
  int stages_ = 0;
  std::vector<PlannerStage> placed_;
  std::vector<bool> used_;
  std::int64_t steps_ = 0;
  std::int64_t ops_ = 0;
  bool exact_ = true;
};

}  // namespace

DevicePlacement place_stages(const PlannerJob& job, int stages, const PlacementOptions& options) {
  const int most = std::min(job.layer_count(), job.device_count());
  DevicePlacement placed = PlacementSearch(job, options).run(stages > 0 ? stages : 1, stages > 0 ? stages : most);
  if (!placed.worth.fits) {
    no_plan_fits("debubble", "no order of the devices and no cut that was tried fits their memory",
                 "use more devices, devices with more memory, or a smaller microbatch");
  }
  return placed;
}

}  // namespace debubble
