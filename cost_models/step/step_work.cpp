#include "cost_models/step/step_work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "cost_models/step/builder.hpp"
#include "sim/core/error.hpp"
#include "sim/core/schedule.hpp"

namespace debubble {

namespace {

std::string percent_of_tenths(double share) {
  const auto tenths = std::llround(share * 1000);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

void describe_collectives(const StepRequest& request, const StepWork& work, std::vector<Assumption>& assumptions) {
  const auto planned = [](const StepTask& task) { return task.lane == StepTask::Lane::kCollective && task.bytes > 0; };
  const bool any = std::any_of(work.tasks.begin(), work.tasks.end(), planned);
  if (!any && (work.empty() || !request.options.slow_down)) return;
  const StepPlanner planner(request);
  if (any) assumptions.push_back({"collectives of the step", planner.model_text(), planner.model_source()});
  double most = 0;
  for (const StepTask& task : work.tasks) most = std::max(most, task.slow_down);
  const bool given = request.options.slow_down.has_value();
  const std::string effect = most == 0 ? std::string("not slowed down")
                                       : "takes up to " + percent_of_tenths(most) + " longer" +
                                             (given ? "" : ": kernels of NCCL hold multiprocessors (calculon)");
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

// One layer's weights or gradients.
Nanoseconds layer_collective(const StepPlanner& planner, const std::vector<std::int32_t>& place, CollectiveKind kind,
                             Bytes all, Bytes experts, int layers) {
  Nanoseconds time = 0;
  for (const bool expert : {false, true}) {
    const Bytes bytes = (expert ? experts : all - experts) / layers;
    const RankGroups groups = planner.replica_groups(place, expert);
    if (bytes > 0 && groups.front().size() > 1) time += planner.plan(groups, kind, bytes).duration;
  }
  return time;
}

void keep_whole(const StepRequest& request, std::size_t stage, StageCost& cost) {
  cost.gradients = request.stages[stage].gradients;
  if (request.parallel.zero == 3) cost.weights = request.stages[stage].parameters;
}

void add_inside(const StepRequest& request, const StepPlanner& planner, std::size_t stage, int layers, bool split,
                StageCost& cost) {
  const StageState& state = request.stages[stage];
  const std::vector<std::int32_t> place{request.schedule->placement.device_of(0, static_cast<int>(stage))};
  const bool weights = request.parallel.zero == 3;
  const Nanoseconds fetch = !weights ? 0
                                     : layer_collective(planner, place, CollectiveKind::kAllGather, state.parameters,
                                                        state.expert_parameters, layers);
  const Nanoseconds scatter =
      layer_collective(planner, place, CollectiveKind::kReduceScatter, state.gradients, state.expert_gradients, layers);
  const double slow = planner.slow_down(planner.replica_groups(place, false));
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

StageCosts sharded_stage_costs(const StepRequest& request, StageCosts costs, const std::vector<int>& layers,
                               std::vector<Assumption>& assumptions) {
  const Parallelism& sizes = request.parallel;
  if (sizes.zero < 2 || request.stages.empty() || sizes.data * sizes.context < 2) return costs;
  const StepPlanner planner(request);
  const bool split = has_weight_grads(*request.schedule);
  for (std::size_t stage = 0; stage < costs.stages.size(); ++stage) {
    if (request.options.keep) {
      keep_whole(request, stage, costs.stages[stage]);
    } else {
      add_inside(request, planner, stage, layers.empty() ? 1 : std::max(1, layers[stage]), split, costs.stages[stage]);
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
