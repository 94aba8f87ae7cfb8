#include "studies/plan/open_cuts.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "cost_models/partition/partition.hpp"
#include "cost_models/partition/stage_cuts.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/layer_cut.hpp"
#include "scenario/job/memory_limits.hpp"
#include "scenario/job/model_profile.hpp"
#include "scenario/job/step.hpp"
#include "scenario/request/stage_list.hpp"
#include "sim/core/at.hpp"
#include "studies/parallel.hpp"

namespace debubble {
namespace {

constexpr Bytes kNoLimit = Bytes{1} << 60;

// The lowest value between a lower bound and one that is enough, to a thousandth, that is not enough, or the lower
// bound itself.
template <typename Value, typename Enough>
Value least_enough(Value low, Value high, const Enough& enough) {
  if (low >= high || enough(low)) return low;
  while (high - low > std::max<Value>(1, low / 1024)) {
    const Value middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return low;
}

}  // namespace

std::vector<const Profile*> layers_of_devices(const Scenario& scenario, bool recomputed) {
  const TransformerScenario& transformer = scenario.transformer;
  if (transformer.placed == nullptr) return {recomputed ? transformer.recomputed.get() : &*scenario.profile};
  std::vector<const Profile*> profiles;
  for (const ModelledLayers& layers : transformer.placed->distinct) {
    profiles.push_back(recomputed ? layers.recomputed.get() : &layers.profile);
  }
  return profiles;
}

LayerPath shortest_path(const std::vector<const Profile*>& profiles, int layer) {
  LayerPath path;
  for (const Profile* const profile : profiles) {
    const ProfileLayer& one = at(profile->layers, layer);
    path.forward = std::min(path.forward, one.forward.median);
    path.both = std::min(path.both, one.forward.median + least_backward(one));
  }
  return path;
}

bool is_memory_cut(const PlanChoice& choice) { return choice.partition == kMemoryCut; }

bool links_may_differ(const PlanRequest& request) {
  const std::string& p2p = request.job.p2p;
  const bool beside = p2p.empty() || p2p == "overlapped" || (p2p == "auto" && request.job.framework.empty());
  return !beside || request.job.cluster.topology != ClusterFlags{}.topology;
}

bool has_open_cut(const PlanRequest& request, const PlanChoice& choice) {
  return is_memory_cut(choice) || (choice.partition == kBalancedCut && links_may_differ(request));
}

bool has_single_stages(const Pattern& pattern) {
  const std::optional<OrderSummary>& order = pattern.order;
  if (!order || order->planned || order->replicas != 1 || pattern.shape.vocabulary_barriers > 0) return false;
  if (pattern.shape.stages != pattern.shape.devices) return false;
  return std::all_of(order->by_device.begin(), order->by_device.end(),
                     [](const DeviceSummary& device) { return device.stages.size() == 1; });
}

CutBounds::CutBounds(const PlanRequest& request, const PlanChoice& choice, std::shared_ptr<const Scenario> checked)
    : checked_(checked != nullptr ? std::move(checked)
                                  : std::make_shared<const Scenario>(check_scenario(flags_of(choice, request.job)))),
      scenario_(*checked_),
      capacities_(make_memory_limits(scenario_, choice.pipeline).value.capacities),
      microbatches_(choice.microbatches),
      layers_(static_cast<int>(scenario_.profile->layers.size())) {
  const bool mixed = scenario_.transformer.recomputed != nullptr;
  plain_ = sums_of(false);
  if (mixed) {
    again_ = sums_of(true);
    named_ = recomputing_stages(scenario_.transformer, choice.pipeline);
    const RecomputeRule& rule = scenario_.transformer.recompute_blocks;
    if (rule.some()) {  // which of a stage's blocks recompute, the cut decides: the least of both
      again_.time = plain_.time;
      again_.forward = plain_.forward;
    }
    if (rule.how == RecomputeRule::How::kChunks) again_.activation.assign(again_.activation.size(), 0);
  }
}

CutBounds::Sums CutBounds::sums_of(bool recomputed) const {
  const std::vector<const Profile*> profiles = layers_of_devices(scenario_, recomputed);
  Sums sums;
  for (int k = 0; k < layers_; ++k) {
    const ProfileLayer& one = at(profiles.front()->layers, k);
    const LayerPath path = shortest_path(profiles, k);
    sums.time.push_back(sums.time.back() + path.both);
    sums.forward.push_back(sums.forward.back() + path.forward);
    sums.states.push_back(sums.states.back() + least_states(scenario_, one));
    sums.activation.push_back(sums.activation.back() + one.activation);
    sums.weight_grad.push_back(sums.weight_grad.back() + one.weight_grad_held.value_or(0));
  }
  return sums;
}

Bytes CutBounds::held_by(const DeviceSummary& device, int pieces, int begin, int end) const {
  const std::int32_t stage = device.stages.front().stage;
  const Sums& sums = on(stage);
  const auto range = [&](const std::vector<Bytes>& all) { return at(all, end) - at(all, begin); };
  const Bytes activation = range(sums.activation) / pieces;
  const Bytes weight_grad = scenario_.weight_share_given ? 0 : range(sums.weight_grad) / pieces;
  Bytes most = 0;
  for (const HeldMoment& moment : device.moments) {
    Bytes held = 0;
    for (const HeldMoment::Stage& one : moment.stages) {
      held += one.activations * activation + one.weight_grads * weight_grad;
    }
    most = std::max(most, held);
  }
  return range(sums.states) + most;
}

// Pieces are rounded one by one.
Nanoseconds CutBounds::rounding(const OrderSummary& order) const {
  constexpr Nanoseconds kOpsOfPiece = 3;
  return order.pieces > 1 ? kOpsOfPiece * order.pieces * microbatches_ : 0;
}

// How many stages' worth of time of a stage may pass at once.
Nanoseconds CutBounds::engines(const OrderSummary& order) { return order.side_by_side ? 2 : 1; }

Nanoseconds CutBounds::mean_time(const OrderSummary& order, int devices) const {
  const Nanoseconds all = plain_.time.back() * microbatches_ / (devices * engines(order));
  return std::max<Nanoseconds>(0, all - rounding(order));
}

Nanoseconds CutBounds::time_of(const OrderSummary& order, int stage, int begin, int end) const {
  const Sums& sums = on(stage);
  const Nanoseconds own =
      (at(sums.time, end) - at(sums.time, begin)) * microbatches_ / engines(order) - rounding(order);
  if (order.pieces > 1 || !order.even_pieces || engines(order) > 1) return own;
  return own + at(order.split_backward ? plain_.forward : plain_.time, begin);
}

bool CutBounds::fits_some_cut(const Pattern& pattern, const Limit& limit) const {
  const OrderSummary& order = *pattern.order;
  return some_cut(pattern.shape.stages, layers_, [&](int stage, int begin, int end) {
    const std::int32_t d = pattern.shape.placement.device_of(0, stage);
    const Bytes own = capacities_.empty() ? 0 : capacities_.size() == 1 ? capacities_.front() : at(capacities_, d);
    const Bytes room = limit.room > 0 ? limit.room : own > 0 ? own + limit.more : kNoLimit;
    return time_of(order, stage, begin, end) <= limit.step &&
           held_by(at(order.by_device, d), order.pieces, begin, end) <= room;
  });
}

Bytes CutBounds::mean_states(int devices) const { return plain_.states.back() / devices; }

bool CutBounds::may_fit(const Pattern& pattern) const {
  return fits_some_cut(pattern, {std::numeric_limits<Nanoseconds>::max(), 0, 0});
}

CutBound CutBounds::of(const Pattern& pattern) const {
  constexpr Nanoseconds kEver = std::numeric_limits<Nanoseconds>::max();
  const OrderSummary& order = *pattern.order;
  const int stages = pattern.shape.stages;
  CutBound bound;
  bound.memory = least_enough<Bytes>(std::max<Bytes>(1, mean_states(stages)), kNoLimit, [&](Bytes room) {
    return fits_some_cut(pattern, {kEver, 0, room});
  });
  if (!may_fit(pattern)) {
    bound.missing = 1 + least_enough<Bytes>(0, kNoLimit, [&](Bytes more) {
                      return fits_some_cut(pattern, {kEver, more, 0});
                    });
  }
  bound.step = mean_time(order, stages);
  if (bound.missing > 0) return bound;
  const Nanoseconds all_on_one = 2 * plain_.time.back() * microbatches_ + 1;
  bound.step = least_enough<Nanoseconds>(bound.step, all_on_one, [&](Nanoseconds step) {
    return fits_some_cut(pattern, {step, 0, 0});
  });
  return bound;
}

std::vector<Evaluation> bounded_open_cuts(const PlanRequest& request, const std::vector<PlanChoice>& choices,
                                          const std::map<PatternKey, Pattern>& patterns) {
  std::vector<Evaluation> all(choices.size());
  try {
    const CutBounds bounds(request, choices.front());
    if (!bounds.knows_rooms() && is_memory_cut(choices.front())) refuse_unknown_room();
    for (std::size_t k = 0; k < all.size(); ++k) {
      const Pattern& pattern = patterns.at(pattern_key(choices[k]));
      if (!pattern.order) {
        all[k] = pattern.refusal;
      } else if (has_single_stages(pattern)) {
        const CutBound bound = bounds.of(pattern);
        all[k].bound = bound.step;
        all[k].memory_bound = bound.memory;
        all[k].missing = bound.missing;
        if (bound.missing > 0) all[k].kind = Evaluation::Kind::kTooLarge;
      } else {
        all[k].bound = bounds.mean_time(*pattern.order, choices[k].pipeline);
        all[k].memory_bound = bounds.mean_states(choices[k].pipeline);
      }
    }
  } catch (const InputError& error) {
    for (Evaluation& one : all) refuse(one, error);
  }
  return all;
}

bool cuts_ignore_links(const PlanRequest& request) {
  const auto cuts = request.allowed.find("partition");
  const bool balances = cuts == request.allowed.end() ||
                        std::find(cuts->second.begin(), cuts->second.end(), "auto") != cuts->second.end();
  return balances && links_may_differ(request);
}

std::vector<PlannedRun> cut_for_links(const PlanRequest& request, const std::vector<PlannedRun>& runs, int threads) {
  std::vector<Evaluation> found(runs.size());
  for_each_index(runs.size(), threads_for(runs.size(), threads), [&](std::size_t k) {
    const PlannedRun& run = runs[k];
    if (run.choice.pipeline < 2 || !run.choice.partition.empty()) return;
    PlanChoice choice = run.choice;
    choice.partition = kBalancedCut;
    const Pattern pattern = make_pattern(request, choice);
    found[k] = bounded(request, {choice}, {{pattern_key(choice), pattern}}).front();
    if (found[k].kind == Evaluation::Kind::kBounded) simulate_choice(request, choice, found[k]);
  });
  std::vector<PlannedRun> faster;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const bool fits = found[k].kind == Evaluation::Kind::kFits && !found[k].run.is_tight();
    if (fits && found[k].run.step < runs[k].step) {
      faster.push_back(std::move(found[k].run));
    }
  }
  std::stable_sort(faster.begin(), faster.end(),
                   [](const PlannedRun& a, const PlannedRun& b) { return a.step < b.step; });
  return faster;
}

}  // namespace debubble
