#include "scenario/job/transforms.hpp"

#include <algorithm>
#include <optional>

#include "cost_models/uniform.hpp"
#include "schedules/common/memory_limit.hpp"
#include "schedules/transforms/catalog.hpp"
#include "schedules/transforms/request.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {

namespace {

// The value that the last transform of that name was given, as it signed the schedule; nothing if it was not.
std::optional<std::string> signed_value(const Schedule& schedule, const std::string& key) {
  for (const auto& [name, value] : schedule.params) {
    if (name == key) return value;
  }
  return std::nullopt;
}

std::optional<double> signed_share(const Schedule& schedule, const std::string& key) {
  const std::optional<std::string> text = signed_value(schedule, key);
  if (!text) return std::nullopt;
  // A file may hold anything under this name.
  if (const auto value = number_of(*text); value && *value >= 0 && *value <= 1) return value;
  throw InputError(Diagnostic{"S006", "--schedule", key + "=\"" + *text + "\" is not a share from 0 to 1",
                              "fix the schedule's params, or leave the entry out"});
}

bool recomputes(const Schedule& schedule) {
  return std::any_of(schedule.rows.begin(), schedule.rows.end(), [](const auto& row) {
    return std::any_of(row.begin(), row.end(), [](const Op& op) { return op.kind == OpKind::kRecompute; });
  });
}

}  // namespace

int vocabulary_barriers(const Schedule& schedule, const std::vector<TransformSpec>& transforms) {
  if (schedule.vocabulary_barriers > 0) return schedule.vocabulary_barriers;
  for (const TransformSpec& spec : transforms) {
    if (spec.name != "vocabulary-parallel") continue;
    const auto given = spec.params.find("barriers");
    return given != spec.params.end() && given->second == "2" ? 2 : 1;
  }
  return 0;
}

PlanningCosts costs_to_plan_with(const Schedule& schedule, const StageCosts& costs, const Topology& topology) {
  PlanningCosts planning;
  planning.costs = costs;
  planning.static_bytes.assign(static_cast<std::size_t>(schedule.devices), 0);
  std::vector<Bytes> buffers(planning.static_bytes.size(), 0);  // a device's stages share them
  Bytes activations = 0;
  for (int stage = 0; stage < schedule.stages; ++stage) {
    const StageCost& cost = at(costs.stages, stage);
    activations += cost.activation;
    for (int replica = 0; replica < schedule.placement.replicas(); ++replica) {
      const std::int32_t device = schedule.placement.device_of(replica, stage);
      at(planning.static_bytes, device) += cost.weights + cost.gradients + cost.optimizer;
      Bytes& largest = at(buffers, device);
      largest = std::max(largest, cost.comm_buffers);
    }
    if (stage + 1 == schedule.stages || schedule.devices < 2) continue;
    planning.hops.push_back(topology.to_next_stage(stage, schedule.devices, cost.output).total());
  }
  for (std::size_t d = 0; d < buffers.size(); ++d) planning.static_bytes[d] += buffers[d];
  set_activation_unit(planning, activations, schedule.devices);
  return planning;
}

std::optional<ExtraWork> extra_work(const std::vector<TransformSpec>& transforms,
                                    std::vector<Assumption>& assumptions) {
  const auto found = std::find_if(transforms.begin(), transforms.end(),
                                  [](const TransformSpec& spec) { return spec.name == "fill-bubbles"; });
  if (found == transforms.end()) return std::nullopt;
  const auto time = [&](const std::string& key) -> Nanoseconds {
    const auto given = found->params.find(key);
    if (given == found->params.end()) return 0;
    return parse_duration(given->second, "--transform fill-bubbles:" + key, BareNumber::kToyUnits);
  };
  ExtraWork work{time("curvature"), time("inverse"), time("sync"), time("precondition"), 1};
  const TransformRequest request{found->params, nullptr};
  work.parts = TransformParams(request, "fill-bubbles").whole("layers", 1, 1);
  assumptions.push_back(
      {"curvature", format_duration_exact(work.curvature) + " per device share and microbatch", Source::kGiven});
  assumptions.push_back(
      {"inverse", format_duration_exact(work.inverse) + " per device share and refresh", Source::kGiven});
  assumptions.push_back({"factors A and B", "half of curvature, inverse and sync each", Source::kDefault});
  assumptions.push_back({"memory of the factors", "not counted", Source::kDefault});
  return work;
}

void refuse_filled_bubbles(const Schedule& schedule, const std::string& place, const std::string& because) {
  const bool filled = std::any_of(schedule.params.begin(), schedule.params.end(),
                                  [](const auto& param) { return param.first.starts_with("fill-bubbles."); });
  if (!filled) return;
  throw InputError(Diagnostic{"C087", place, because,
                              "leave --transform fill-bubbles out; `debubble simulate --trace FILE` shows the work"});
}

void set_recompute_costs(const Schedule& schedule, bool toy, bool time_given, StageCosts& costs,
                         std::vector<Assumption>& assumptions) {
  if (!recomputes(schedule)) return;
  const std::optional<double> time = signed_share(schedule, "recompute.time");
  const std::optional<double> keep = signed_share(schedule, "recompute.keep");
  if (time && time_given) {
    throw InputError(Diagnostic{"S075", "--times", "r and the recomputation's time= both say how long it takes",
                                "leave r= out of --times"});
  }
  set_recompute_shares(costs, time, keep);
  if (!time_given) {
    assumptions.push_back({"recomputation", time ? format_percent(*time) + " of the forward" : "as long as the forward",
                           time ? Source::kGiven : Source::kDefault});
  }
  std::string kept = toy ? "nothing of an activation" : "the stage's input (of stage 0: as much as its output)";
  if (keep) kept = format_percent(*keep) + " of an activation";
  assumptions.push_back({"kept until recomputed", std::move(kept), keep ? Source::kGiven : Source::kDefault});
}

}  // namespace debubble
