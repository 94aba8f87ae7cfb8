#include "studies/whatif/follow_links.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "scenario/job/model_profile.hpp"
#include "scenario/job/stage_costs.hpp"
#include "scenario/job/step.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

constexpr std::array kInside{Dimension::kTensor, Dimension::kContext, Dimension::kExpert, Dimension::kExpertTensor};

bool has_inside(const Parallelism& sizes) {
  return std::any_of(kInside.begin(), kInside.end(), [&](Dimension one) { return group_size(sizes, one) > 1; });
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

}  // namespace

LinkFollower::LinkFollower(const Scenario& scenario, const Job& base) : scenario_(scenario) {
  if (scenario.profile && scenario.partition.follows_from_job()) scenario_.partition = as_cut(base.partition);
  scenario_.cluster.known.reset();  // what is kept is of the links as they were
  if (scenario.cluster.graph == nullptr) return;
  costs_ = make_stage_costs(scenario_, base.schedule).costs;
  if (!scenario.transformer.setup) return;
  const Router* before = scenario.cluster.graph->router.get();
  const Router* now = base.topology.network()->graph.router.get();
  find_inside_links(base, *now);
  if (before != now) find_inside_links(base, *before);  // what a link that has failed since has carried
}

void LinkFollower::find_inside_links(const Job& base, const Router& router) {
  const RankLayout& layout = base.topology.network()->layout;
  if (!has_inside(layout.sizes)) return;
  inside_.resize(static_cast<std::size_t>(base.schedule.devices));
  for (int place = 0; place < base.schedule.devices; ++place) {
    std::vector<std::int32_t>& links = at(inside_, place);
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

Job LinkFollower::followed(Job job) const {
  if (scenario_.cluster.graph == nullptr) return job;  // single ideal links: only transfers take them
  const LinkGraph& graph = job.topology.network()->graph;
  if (!concerns_inside(graph)) {
    const Topology links = job.topology;
    return with_step(std::move(job), costs_, links);
  }
  const PlacedLayers placed = place_layers(scenario_, graph, job.schedule.devices);
  job.topology = job.topology.with_gather(placed.longest_gather());
  const Topology links = job.topology;
  const StageCosts costs = stage_costs_at(scenario_, placed, job.schedule);
  return with_step(std::move(job), costs, links);
}

bool LinkFollower::concerns_inside(const LinkGraph& graph) const {
  if (inside_.empty()) return false;
  const std::vector<bool> changed = changed_links(*scenario_.cluster.graph, graph);
  return std::any_of(inside_.begin(), inside_.end(), [&](const std::vector<std::int32_t>& links) {
    return std::any_of(links.begin(), links.end(), [&](std::int32_t link) { return at(changed, link); });
  });
}

Job LinkFollower::followed_ideal(double bandwidth, double latency, const Topology& step_links, Job job) const {
  Scenario scenario = scenario_;
  const bool modelled = scenario.transformer.setup && scenario.cluster.graph == nullptr;
  if (modelled && has_inside(scenario.transformer.setup->parallel)) {
    ModelledLayers layers = modelled_on_ideal(scenario, bandwidth, latency);
    scenario.profile = std::move(layers.profile);
    scenario.transformer.recomputed = std::move(layers.recomputed);
    job.topology = job.topology.with_gather(layers.gather);
  }
  const StageCosts costs = make_stage_costs(scenario, job.schedule).costs;
  return with_step(std::move(job), costs, step_links);
}

Job LinkFollower::with_step(Job job, const StageCosts& costs, const Topology& links) const {
  StepMade made = make_step(scenario_, costs, {job.schedule, job.partition, links});
  job.costs = std::move(made.costs);
  job.step = std::move(made.work);
  return job;
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
