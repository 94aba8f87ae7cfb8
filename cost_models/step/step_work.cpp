#include "cost_models/step/step_work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "cost_models/step/builder.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/schedule.hpp"

namespace debubble {

namespace {

void describe_collectives(const StepRequest& request, const StepWork& work, std::vector<Assumption>& assumptions) {
  const auto planned = [](const StepTask& task) { return task.lane == StepTask::Lane::kCollective && task.bytes > 0; };
  const bool any = std::any_of(work.tasks.begin(), work.tasks.end(), planned);
  if (!any && (work.empty() || !request.options.slow_down)) return;
  const StepPlanner planner(request);
  if (any) assumptions.push_back({"collectives of the step", planner.model_text(), planner.model_source()});
  double most = 0;
  for (const StepTask& task : work.tasks) most = std::max(most, task.slow_down);
  const bool given = request.options.slow_down.has_value();
  const std::string effect = most == 0
                                 ? std::string("not slowed down")
                                 : "takes up to " + format_with_unit(std::llround(most * 1000), {"%", 10, 1}) +
                                       " longer" + (given ? "" : ": kernels of NCCL hold multiprocessors (calculon)");
  assumptions.push_back({"compute that overlaps collectives", effect,
                         given       ? Source::kGiven
                         : most == 0 ? Source::kDefault
                                     : Source::kPublished});
}

// A run of one first layer that waits for its weights, layers during which the network fetches for the next and takes
// away from the one before, and what is left at the end. Returns what it takes beyond `compute`.
Nanoseconds exposed(Nanoseconds compute, Nanoseconds fetch, Nanoseconds take_away, int layers, double slow_down) {
  if (compute == 0) return 0;
  const double share = static_cast<double>(compute) / layers;
  const auto network = static_cast<double>(fetch + take_away);
  const double busy = std::max(share + std::min(share, network) * slow_down, network);
  return fetch + take_away + std::llround((layers - 1) * (busy - share));
}

// Collectives of single layers. Stages of one device often have layers of one size, which are planned once.
class LayerCollectives {
 public:
  explicit LayerCollectives(const StepPlanner& planner) : planner_(planner) {}

  // One layer's weights or gradients, of a stage with so many layers.
  Nanoseconds time(std::int32_t device, CollectiveKind kind, Bytes all, Bytes experts, int layers) {
    Nanoseconds sum = 0;
    for (const bool expert : {false, true}) {
      const Bytes bytes = (expert ? experts : all - experts) / layers;
      if (bytes <= 0) continue;
      const auto [known, is_new] = times_.try_emplace({device, expert, kind, bytes}, 0);
      if (is_new) known->second = planned(device, expert, kind, bytes);
      sum += known->second;
    }
    return sum;
  }

  double slow_down(std::int32_t device) {
    const auto [known, is_new] = slow_downs_.try_emplace(device, 0);
    if (is_new) known->second = planner_.slow_down(planner_.replica_groups({device}, false));
    return known->second;
  }

 private:
  [[nodiscard]] Nanoseconds planned(std::int32_t device, bool expert, CollectiveKind kind, Bytes bytes) const {
    const RankGroups groups = planner_.replica_groups({device}, expert);
    return groups.front().size() > 1 ? planner_.plan(groups, kind, bytes).duration : 0;
  }

  const StepPlanner& planner_;
  std::map<std::tuple<std::int32_t, bool, CollectiveKind, Bytes>, Nanoseconds> times_;
  std::map<std::int32_t, double> slow_downs_;
};

void keep_whole(const StepRequest& request, std::size_t stage, StageCost& cost) {
  cost.gradients = request.stages[stage].gradients;
  if (request.parallel.zero == 3) cost.weights = request.stages[stage].parameters;
}

void add_inside(const StepRequest& request, LayerCollectives& collectives, std::size_t stage, int layers, bool split,
                StageCost& cost) {
  const StageState& state = request.stages[stage];
  const std::int32_t device = request.schedule->placement.device_of(0, static_cast<int>(stage));
  const bool weights = request.parallel.zero == 3;
  const Nanoseconds fetch = !weights ? 0
                                     : collectives.time(device, CollectiveKind::kAllGather, state.parameters,
                                                        state.expert_parameters, layers);
  const Nanoseconds scatter =
      collectives.time(device, CollectiveKind::kReduceScatter, state.gradients, state.expert_gradients, layers);
  const double slow = collectives.slow_down(device);
  const auto lengthen = [&](Nanoseconds& time, Nanoseconds before, Nanoseconds behind) {
    const Nanoseconds more = exposed(time, before, behind, layers, slow);
    time += more;
    return more;
  };
  cost.forward_collective += lengthen(cost.forward, fetch, 0);
  lengthen(cost.recompute, fetch, 0);
  const Nanoseconds whole = lengthen(cost.backward, fetch, scatter);
  const Nanoseconds halves = lengthen(cost.input_grad, fetch, 0) + lengthen(cost.weight_grad, 0, scatter);
  cost.backward_collective += split ? halves : whole;
}

}  // namespace

StepWork make_step_work(const StepRequest& request, std::vector<Assumption>& assumptions) {
  if (request.schedule->asynchrony) {
    throw InputError(Diagnostic{
        "C001", "--step", request.schedule->name + " has no flush: its devices update all the time, and no step ends",
        "leave --step out, or take a schedule that flushes"});
  }
  StepWork work = StepBuilder(request).run();
  describe_collectives(request, work, assumptions);
  return work;
}

StepWork make_replica_sums(const StepRequest& request, std::vector<Assumption>& assumptions) {
  StepWork work = StepBuilder(request).run_replica_sums();
  describe_collectives(request, work, assumptions);
  return work;
}

CollectivePlan pipeline_sum(const StepRequest& request, Bytes bytes) {
  const StepPlanner planner(request);
  std::vector<std::int32_t> places(static_cast<std::size_t>(request.schedule->devices));
  std::iota(places.begin(), places.end(), 0);
  return planner.plan(planner.place_groups(places, -1), CollectiveKind::kAllReduce, bytes);
}

StageCosts sharded_stage_costs(const StepRequest& request, StageCosts costs, const std::vector<int>& layers,
                               std::vector<Assumption>& assumptions) {
  const Parallelism& sizes = request.parallel;
  if (sizes.zero < 2 || request.stages.empty() || (sizes.copies() < 2 && sizes.expert_copies() < 2)) return costs;
  const StepPlanner planner(request);
  LayerCollectives collectives(planner);
  const bool split = has_weight_grads(*request.schedule);
  for (std::size_t stage = 0; stage < costs.stages.size(); ++stage) {
    if (request.options.keep) {
      keep_whole(request, stage, costs.stages[stage]);
    } else {
      add_inside(request, collectives, stage, layers.empty() ? 1 : std::max(1, layers[stage]), split,
                 costs.stages[stage]);
    }
  }
  const std::string what = sizes.zero == 2 ? "gradients" : "weights and gradients";
  assumptions.push_back({"ZeRO-" + std::to_string(sizes.zero),
                         request.options.keep
                             ? what + " stay whole during the step"
                             : what + " go layer by layer in every op, overlapping the next layer's compute",
                         Source::kDefault});
  return costs;
}

}  // namespace debubble
