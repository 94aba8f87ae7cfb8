#include "tools/whatif/follow_links.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "tools/stage_costs.hpp"
#include "tools/step/run_step.hpp"
#include "tools/transformer/model_profile.hpp"

namespace debubble {

namespace {

constexpr std::array kInside{Dimension::kTensor, Dimension::kContext, Dimension::kExpert};

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

bool has_inside(const Parallelism& sizes) {
  return std::any_of(kInside.begin(), kInside.end(), [&](Dimension one) { return group_size(sizes, one) > 1; });
}

std::string partition_text(const std::vector<int>& partition) {
  std::string text;
  for (const int layers : partition) text += (text.empty() ? "" : ",") + std::to_string(layers);
  return text;
}

// Links whose figures differ between two graphs with the same links.
std::vector<bool> changed_links(const LinkGraph& before, const LinkGraph& after) {
  std::vector<bool> changed(before.links.size(), false);
  for (std::size_t k = 0; k < changed.size(); ++k) {
    const Link& a = before.links[k];
    const Link& b = after.links[k];
    changed[k] = a.bandwidth != b.bandwidth || a.latency != b.latency || a.cut != b.cut;
  }
  return changed;
}

StageCosts costs_of(const Scenario& scenario, const Schedule& schedule) {
  Run draft;
  draft.schedule = schedule;
  set_stage_costs(scenario, draft);
  return std::move(draft.costs);
}

void keep_longer(const StageCost& other, StageCost& cost) {
  for (Nanoseconds StageCost::*time :
       {&StageCost::forward, &StageCost::backward, &StageCost::input_grad, &StageCost::weight_grad,
        &StageCost::recompute, &StageCost::forward_collective, &StageCost::backward_collective}) {
    cost.*time = std::max(cost.*time, other.*time);
  }
}

}  // namespace

LinkFollower::LinkFollower(const Scenario& scenario, const Run& base) : scenario_(scenario) {
  if (scenario.profile && scenario.partition == "auto") scenario_.partition = partition_text(base.partition);
  if (!scenario.transformer.setup || scenario.cluster.graph == nullptr) return;
  const Router* before = scenario.cluster.graph->router.get();
  const Router* now = base.topology.network()->graph.router.get();
  find_inside_links(base, *now);
  if (before != now) find_inside_links(base, *before);  // what a link that has failed since has carried
}

void LinkFollower::find_inside_links(const Run& base, const Router& router) {
  const RankLayout& layout = base.topology.network()->layout;
  if (!has_inside(layout.sizes)) return;
  inside_.resize(static_cast<std::size_t>(base.schedule.devices));
  for (int place = 0; place < base.schedule.devices; ++place) {
    std::vector<std::int32_t>& links = inside_[static_cast<std::size_t>(place)];
    const auto add_group = [&](Dimension dimension, int tensor, int context, int data) {
      const std::int32_t from = layout.device(tensor, context, data, place);
      for (const std::int32_t to : layout.group(dimension, tensor, context, data, place)) {
        router.route(from, to, links);
      }
    };
    for (const Dimension dimension : kInside) {
      if (group_size(layout.sizes, dimension) < 2) continue;
      for (int data = 0; data < layout.sizes.data; ++data) {
        for (int context = 0; context < layout.sizes.context; ++context) {
          for (int tensor = 0; tensor < layout.sizes.tensor; ++tensor) add_group(dimension, tensor, context, data);
        }
      }
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
  }
}

// Of a stage with several replicas in the pipeline the slowest counts.
void LinkFollower::follow(Run& run) const {
  if (scenario_.cluster.graph == nullptr) return;  // single ideal links: only transfers take them
  const StageCosts base = costs_of(scenario_, run.schedule);
  StageCosts costs = base;
  const LinkGraph& graph = run.topology.network()->graph;
  const Placement& placement = run.schedule.placement;
  std::vector<std::optional<StageCosts>> there(
      static_cast<std::size_t>(run.schedule.devices));  // absent: as in the base
  const auto changed = inside_.empty() ? std::vector<bool>{} : changed_links(*scenario_.cluster.graph, graph);
  bool any = false;
  Nanoseconds gather = 0;  // that of the slowest device
  for (std::size_t place = 0; place < inside_.size(); ++place) {
    const auto& links = inside_[place];
    if (std::none_of(links.begin(), links.end(), [&](std::int32_t link) { return changed[at(link)]; })) {
      gather = std::max(gather, run.topology.gather());
      continue;
    }
    Scenario scenario = scenario_;
    ModelledLayers layers = modelled_at(scenario_, graph, run.schedule.devices, static_cast<int>(place));
    scenario.profile = std::move(layers.profile);
    gather = std::max(gather, layers.gather);
    there[place] = costs_of(scenario, run.schedule);
    any = true;
  }
  const auto of_device = [&](int device) -> const StageCosts& {
    const auto& found = there[static_cast<std::size_t>(device)];
    return found ? *found : base;
  };
  for (int stage = 0; stage < run.schedule.stages && any; ++stage) {
    const auto s = static_cast<std::size_t>(stage);
    costs.stages[s] = of_device(placement.device_of(0, stage)).stages[s];
    for (int replica = 1; replica < placement.replicas(); ++replica) {
      keep_longer(of_device(placement.device_of(replica, stage)).stages[s], costs.stages[s]);
    }
  }
  for (std::size_t place = 0; place < there.size() && costs.vocabulary; ++place) {
    const VocabularyCost& other = *of_device(static_cast<int>(place)).vocabulary;
    VocabularyCost& most = *costs.vocabulary;
    most.logits = place == 0 ? other.logits : std::max(most.logits, other.logits);
    most.gradient = place == 0 ? other.gradient : std::max(most.gradient, other.gradient);
  }
  if (any) run.topology = run.topology.with_gather(gather);
  set_step(costs, run);
}

void LinkFollower::follow_ideal(double bandwidth, double latency, const Topology& step_links, Run& run) const {
  Scenario scenario = scenario_;
  const bool modelled = scenario.transformer.setup && scenario.cluster.graph == nullptr;
  if (modelled && has_inside(scenario.transformer.setup->parallel)) {
    ModelledLayers layers = modelled_on_ideal(scenario, bandwidth, latency);
    scenario.profile = std::move(layers.profile);
    run.topology = run.topology.with_gather(layers.gather);
  }
  const Topology between_stages = run.topology;
  run.topology = step_links;
  set_step(costs_of(scenario, run.schedule), run);
  run.topology = between_stages;
}

void LinkFollower::set_step(const StageCosts& costs, Run& run) const {
  Run draft;
  draft.schedule = run.schedule;
  draft.partition = run.partition;
  draft.costs = costs;
  draft.topology = run.topology;
  set_step_work(scenario_, draft);
  run.costs = std::move(draft.costs);
  run.step = std::move(draft.step);
}

std::string collectives_that_stay(const Scenario& scenario, bool named) {
  if (!has_inside(scenario.cluster.sizes)) return "";
  const std::string lead = "The collectives inside stages (tensor, context and expert ranks) keep their times: ";
  if (!scenario.profile) {
    return lead +
           "they are part of the stages' times as given. With --model in place of --times they follow the links.";
  }
  if (!scenario.transformer.setup) {
    return lead + "they are part of the measured stages. With --model in place of --profile they follow the links.";
  }
  if (scenario.cluster.graph != nullptr || !named) return "";
  return lead + "with ideal links they have links of their own. With a --topology they follow its links.";
}

}  // namespace debubble
