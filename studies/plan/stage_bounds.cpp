// The fewest blocks that fit are found by bisection:
//
// 1. With as many blocks recomputed as leave the cut as it is (fewer than a stage has on average) the bound of the
//    memory is taken. Where that is too much, nothing is found.
// 2. Between the number that is known not to be enough and the one that is, the middle one is bounded, and takes the
//    place of one of them, until no number is between them.
//
// Invariant: the lower number is not enough, and the upper one is. It holds at the end since the bound of the memory
// falls with each further block: a block that recomputes keeps its input alone, and the workspace of its backward is
// there with the first one already.
#include "studies/plan/stage_bounds.hpp"

#include <algorithm>

#include "cost_models/partition/partition.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/memory_limits.hpp"
#include "scenario/job/stage_costs.hpp"
#include "scenario/job/step.hpp"
#include "sim/core/error.hpp"
#include "studies/plan/bounds.hpp"
#include "studies/plan/open_cuts.hpp"

namespace debubble {
namespace {

// What no device with the mean of all states has room for.
Bytes missing_for_states(const Scenario& scenario, int devices) {
  const MemoryLimits limits = make_memory_limits(scenario, devices).value;
  if (limits.capacities.empty()) return 0;
  const Bytes states = state_bytes(scenario);
  Bytes all = 0;
  for (int d = 0; d < devices; ++d)
    all += limits.capacities.size() == 1 ? limits.capacities.front() : limits.capacities[to_index(d)];
  return std::max<Bytes>(0, (states - all) / devices);
}

std::vector<Nanoseconds> layer_times(const Profile& profile) {
  std::vector<Nanoseconds> times;
  for (const ProfileLayer& layer : profile.layers) times.push_back(layer_time(layer));
  return times;
}

bool leaves_free(const Evaluation& one) { return one.kind == Evaluation::Kind::kBounded && !one.only_tight; }

}  // namespace

void bound_by(const OrderSummary& order, const StepCosts& step, const PlanChoice& choice, Evaluation& one) {
  one.bound = std::max(one.bound, chained_step_bound(order, step.costs, step.chains, choice.microbatches));
  const std::vector<Bytes> memory = memory_bound(order, step.costs);
  for (const Bytes bytes : memory) one.memory_bound = std::max(one.memory_bound, bytes);
  one.missing = missing_memory(memory, step.capacities);
  one.only_tight = step.margin > 0 && missing_memory(memory, step.capacities, step.margin) > 0;
  if (one.missing > 0) one.kind = Evaluation::Kind::kTooLarge;
}

Bytes state_bytes(const Scenario& scenario) {
  Bytes sum = 0;
  for (const ProfileLayer& layer : scenario.profile->layers) sum += least_states(scenario, layer);
  return sum;
}

void KnownCuts::use(const Scenario& scenario) {
  std::vector<Nanoseconds> times = layer_times(*scenario.profile);
  if (scenario.transformer.recomputed != nullptr) {
    const std::vector<Nanoseconds> again = layer_times(*scenario.transformer.recomputed);
    times.insert(times.end(), again.begin(), again.end());
  }
  if (times == times_) return;
  times_ = std::move(times);
  cuts_.clear();
}

const CutRule* KnownCuts::find(int stages) const {
  const auto found = cuts_.find(stages);
  return found == cuts_.end() ? nullptr : &found->second;
}

StageBounds::StageBounds(const PlanRequest& request, const PlanChoice& choice, KnownCuts& cuts)
    : scenario_(check_scenario(flags_of(choice, request.job))),
      typed_(scenario_.partition),
      missing_(missing_for_states(scenario_, choice.pipeline)),
      cuts_(cuts) {
  MemoryLimits limits = make_memory_limits(scenario_, choice.pipeline).value;
  bare_.margin = share_to_stay_free(request, limits);
  bare_.capacities = std::move(limits.capacities);
  cuts_.use(scenario_);
}

Evaluation StageBounds::of(const PlanChoice& choice, const Pattern& pattern) {
  if (!pattern.order) return pattern.refusal;
  Evaluation one;
  if (missing_ > 0) {
    one.kind = Evaluation::Kind::kTooLarge;
    one.missing = missing_;
    return one;
  }
  try {
    find_costs(pattern);
    bound_by(*pattern.order, bare_, choice, one);
  } catch (const InputError& error) {  // of this number of stages alone: others may be cut evenly
    refuse(one, error);
  }
  return one;
}

void StageBounds::find_costs(const Pattern& pattern) {
  const int blocks = scenario_.transformer.recompute_blocks.number;
  const auto same = std::find_if(known_.begin(), known_.end(), [&](const Known& known) {
    return pattern.plain && known.blocks == blocks && known.shape->placement == pattern.shape.placement;
  });
  if (same != known_.end()) {
    bare_.costs = same->costs;
    return;
  }
  bare_.costs = costs_of(pattern);
  if (pattern.plain) known_.push_back({&pattern.shape, blocks, bare_.costs});
}

std::shared_ptr<const Scenario> StageBounds::scenario() && {
  scenario_.partition = typed_;
  return std::make_shared<const Scenario>(std::move(scenario_));
}

StageCosts StageBounds::costs_of(const Pattern& pattern) {
  // Where the output layer is taken out of the profile, others are cut.
  const bool usual = typed_.automatic() && pattern.shape.vocabulary_barriers == 0;
  const CutRule* const cut = usual ? cuts_.find(pattern.shape.stages) : nullptr;
  scenario_.partition = cut != nullptr ? *cut : typed_;
  StageCostsMade made = make_stage_costs(scenario_, pattern.shape);
  if (usual && cut == nullptr) cuts_.keep(pattern.shape.stages, std::move(made.cut.layers));
  shard_measured_states(scenario_, made.costs);
  return std::move(made.costs);
}

std::optional<Evaluation> StageBounds::with_fewest_blocks(PlanChoice& choice, const Pattern& pattern) {
  // With more the balance counts all blocks as recomputed (counted_share), and cuts the layers otherwise.
  const auto blocks = static_cast<int>(scenario_.transformer.setup->shape.layers);
  int enough = (blocks - 1) / pattern.shape.stages;
  int not_enough = choice.recompute_first;
  const auto bounds_with = [&](int number) {
    scenario_.transformer.recompute_blocks.number = number;
    return of(choice, pattern);
  };
  if (enough <= not_enough) return std::nullopt;
  Evaluation found = bounds_with(enough);
  if (!leaves_free(found)) return std::nullopt;
  while (enough - not_enough > 1) {
    const int middle = not_enough + (enough - not_enough) / 2;
    Evaluation one = bounds_with(middle);
    (leaves_free(one) ? enough : not_enough) = middle;
    if (enough == middle) found = std::move(one);
  }
  choice.recompute_first = enough;
  return found;
}

std::vector<FewestBlocks> fewest_blocks(const PlanRequest& request, std::vector<PlanChoice> choices,
                                        const std::map<PatternKey, Pattern>& patterns) {
  std::vector<FewestBlocks> found(choices.size());
  KnownCuts cuts;
  std::optional<StageBounds> bounds;
  int zero = -1;
  for (std::size_t k = 0; k < choices.size(); ++k) {
    PlanChoice& choice = choices[k];
    choice.recompute = kFullRecomputation;
    PlanChoice some = choice;
    some.recompute_first = std::max(1, choice.recompute_first);
    Evaluation refusal;
    if (has_open_cut(request, some) || refuse_by_rules(request, some, refusal)) continue;
    try {
      if (choice.zero != zero) {
        zero = choice.zero;
        bounds.reset();
        bounds.emplace(request, some, cuts);
      }
      if (!bounds) continue;  // no such run
      const std::optional<Evaluation> one = bounds->with_fewest_blocks(choice, patterns.at(pattern_key(choice)));
      if (one) found[k] = {choice.recompute_first, *one};
    } catch (const InputError&) {
      continue;
    }
  }
  return found;
}

}  // namespace debubble
