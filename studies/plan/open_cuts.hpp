// Cuts that only a simulation tells: --partition memory, and --partition auto where it tries several for the links.
// Their lower bounds hold however the layers are cut, as long as every stage fits its device.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "scenario/request/scenario.hpp"
#include "sim/core/at.hpp"
#include "studies/plan/evaluation.hpp"
#include "studies/plan/order_summary.hpp"
#include "studies/plan/search.hpp"

namespace debubble {

[[nodiscard]] bool is_memory_cut(const PlanChoice& choice);
// Whether links may take different times, or transfers hold compute, so that --partition auto tries several cuts.
[[nodiscard]] bool links_may_differ(const PlanRequest& request);
// Whether only a simulation tells the cut: --partition memory, and --partition auto where links differ.
[[nodiscard]] bool has_open_cut(const PlanRequest& request, const PlanChoice& choice);

// Whether every device of the order has one stage of one replica, so that the bounds below weigh single stages.
[[nodiscard]] bool has_single_stages(const Pattern& pattern);

// The layers as they are on each kind of device, recomputed or not: they may take other collectives.
[[nodiscard]] std::vector<const Profile*> layers_of_devices(const Scenario& scenario, bool recomputed);

// The least on any device, of a microbatch through the layer forwards, and through it forwards and back.
struct LayerPath {
  Nanoseconds forward = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds both = std::numeric_limits<Nanoseconds>::max();
};
[[nodiscard]] LayerPath shortest_path(const std::vector<const Profile*>& profiles, int layer);

struct CutBound {
  Nanoseconds step = 0;
  Bytes memory = 0;   // of the device that takes most
  Bytes missing = 0;  // more than 0: no cut fits
};

// For all orders of one base and ZeRO stage.
class CutBounds {
 public:
  // `checked`: of any of these; or null, and it throws what check_scenario throws.
  CutBounds(const PlanRequest& request, const PlanChoice& choice, std::shared_ptr<const Scenario> checked = nullptr);

  // Of a pattern with single stages, which may be that of fewer microbatches than the choice's. The least, over all
  // cuts into consecutive stages that fit, of the longest
  //     forwards of the stages before + all ops of the stage + whole backwards of the stages before
  // of any stage. Stages are weighed by what adds up over their layers: states, activations, times.
  [[nodiscard]] CutBound of(const Pattern& pattern) const;
  // Whether `of` lacks nothing; sooner.
  [[nodiscard]] bool may_fit(const Pattern& pattern) const;

  [[nodiscard]] bool knows_rooms() const { return !capacities_.empty(); }

  // Of any order, on so many devices: means, so that the device with most has no less.
  [[nodiscard]] Nanoseconds mean_time(const OrderSummary& order, int devices) const;
  [[nodiscard]] Bytes mean_states(int devices) const;

 private:
  // Of the first so many layers.
  struct Sums {
    std::vector<Nanoseconds> time{0};  // forward and backward, of a microbatch
    std::vector<Nanoseconds> forward{0};
    std::vector<Bytes> states{0};
    std::vector<Bytes> activation{0};
    std::vector<Bytes> weight_grad{0};
  };
  struct Limit {
    Nanoseconds step = 0;
    Bytes more = 0;  // than the devices have
    Bytes room = 0;  // of every device, in the place of what it has; 0: what it has
  };

  [[nodiscard]] Sums sums_of(bool recomputed) const;
  [[nodiscard]] bool fits_some_cut(const Pattern& pattern, const Limit& limit) const;
  [[nodiscard]] Bytes held_by(const DeviceSummary& device, int pieces, int begin, int end) const;
  [[nodiscard]] static Nanoseconds engines(const OrderSummary& order);
  [[nodiscard]] Nanoseconds rounding(const OrderSummary& order) const;
  [[nodiscard]] Nanoseconds time_of(const OrderSummary& order, int stage, int begin, int end) const;
  [[nodiscard]] const Sums& on(int stage) const { return !named_.empty() && named_[to_index(stage)] ? again_ : plain_; }

  std::shared_ptr<const Scenario> checked_;
  const Scenario& scenario_;
  std::vector<Bytes> capacities_;
  int microbatches_;
  int layers_;
  std::vector<bool> named_;  // by stage: recomputes; empty: all alike
  Sums plain_, again_;
};

// Of choices with an open cut, as `bounded` has them.
[[nodiscard]] std::vector<Evaluation> bounded_open_cuts(const PlanRequest& request,
                                                        const std::vector<PlanChoice>& choices,
                                                        const std::map<PatternKey, Pattern>& patterns);

inline constexpr std::size_t kMostCutForLinks = 8;

// The best of a plan is cut again for the links: the search's own cuts balance time alone, for the bounds hold for
// those. Whether the space has the balanced cut alone, and links may differ, so that another cut may be faster.
[[nodiscard]] bool cuts_ignore_links(const PlanRequest& request);

// Those of `runs` that are faster with --partition auto and fit, simulated with it; best first.
[[nodiscard]] std::vector<PlannedRun> cut_for_links(const PlanRequest& request, const std::vector<PlannedRun>& runs,
                                                    int threads);

}  // namespace debubble
