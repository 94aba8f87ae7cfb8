#include "studies/whatif/changes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "scenario/job/make_variation.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "studies/whatif/follow_links.hpp"

namespace debubble {

namespace {

// Transfers, and gradients where the step reduces any.
void set_overlap(const Scenario& before, const Scenario& after, bool overlap, Run& run) {
  const P2p p2p = overlap ? P2p::kOverlapped : P2p::kBlocking;
  const bool same_step = run.step.empty() || before.step.options.reduce == after.step.options.reduce;
  if (run.p2p == p2p && same_step) {
    throw InputError(
        Diagnostic{"O024", "--overlap",
                   overlap ? "communication overlaps with compute already" : "communication holds compute already",
                   overlap ? "add --p2p blocking for a base without overlap" : "leave --overlap out"});
  }
  run.p2p = p2p;
}

// With ideal links between the stages, collectives have ports or switches of their own, which only a change of all
// links concerns.
std::vector<LinkChange> of_all(const std::vector<LinkChange>& changes) {
  std::vector<LinkChange> all;
  std::copy_if(changes.begin(), changes.end(), std::back_inserter(all),
               [](const LinkChange& change) { return change.link.empty(); });
  return all;
}

// Collectives follow their links: those of the step, and those inside stages where these are modelled.
void follow_links(const Scenario& scenario, const Run& prepared, const std::vector<LinkChange>& links, Run& run) {
  if (prepared.topology.network() != nullptr) return LinkFollower(scenario, prepared).follow(run);
  const std::vector<LinkChange> all = of_all(links);
  double bandwidth = 1;
  double latency = 1;
  for (const LinkChange& change : all) {
    bandwidth *= change.bandwidth;
    latency *= change.latency;
  }
  const Topology step_links = changed_topology(prepared.topology, all, run.schedule.devices, run.pipeline_replicas);
  LinkFollower(scenario, prepared).follow_ideal(bandwidth, latency, step_links, run);
}

}  // namespace

Changes together(Changes changes, const Changes& more) {
  changes.slow.insert(changes.slow.end(), more.slow.begin(), more.slow.end());
  changes.links.insert(changes.links.end(), more.links.begin(), more.links.end());
  if (more.factors.kind != FactorSource::Kind::kNone) changes.factors = more.factors;
  if (more.jitter != 0) changes.jitter = more.jitter;
  if (more.overlap && changes.overlap && *more.overlap != *changes.overlap) {
    changes.overlap.reset();
  } else if (more.overlap) {
    changes.overlap = more.overlap;
  }
  if (more.stage >= 0) {
    changes.stage = more.stage;
    changes.stage_factor = more.stage_factor;
  }
  return changes;
}

Changes together(const std::vector<NamedChange>& changes) {
  Changes all;
  for (const NamedChange& one : changes) all = together(std::move(all), one.changes);
  return all;
}

Scenario changed_scenario(Scenario scenario, const Changes& changes) {
  if (changes.overlap) {
    scenario.step.options.reduce = *changes.overlap ? GradientReduce::kOverlap : GradientReduce::kAtEnd;
  }
  return scenario;
}

VariationScenario changed_variation(const Scenario& scenario, const Changes& changes) {
  VariationScenario variation = scenario.variation;
  variation.slow.insert(variation.slow.end(), changes.slow.begin(), changes.slow.end());
  if (changes.factors.kind != FactorSource::Kind::kNone) variation.factors = changes.factors;
  if (changes.jitter != 0) variation.jitter = changes.jitter;
  return variation;
}

Run changed_run(const Scenario& scenario, const Run& prepared, const Changes& changes) {
  Run run = prepared;
  const Scenario after = changed_scenario(scenario, changes);
  run.topology = changed_topology(run.topology, changes.links, run.schedule.devices, run.pipeline_replicas);
  run.variation = make_variation(changed_variation(scenario, changes), run.schedule, run.pipeline_replicas);
  if (changes.stage >= 0) {
    run.variation.stage.resize(static_cast<std::size_t>(run.schedule.stages), 1);
    at(run.variation.stage, changes.stage) *= changes.stage_factor;
  }
  if (changes.overlap) set_overlap(scenario, after, *changes.overlap, run);
  const bool ideal = prepared.topology.network() == nullptr;
  const bool links = ideal ? !of_all(changes.links).empty() : !changes.links.empty();
  if (links || changes.overlap) follow_links(after, prepared, changes.links, run);
  return run;
}

}  // namespace debubble
