#include "tools/whatif/changes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "sim/core/error.hpp"
#include "tools/step/run_step.hpp"
#include "tools/variation/make_variation.hpp"

namespace debubble {

namespace {

// Transfers, and gradients where the step reduces any.
void set_overlap(const Scenario& before, const Scenario& after, bool overlap, Run& run) {
  const P2p p2p = overlap ? P2p::kOverlapped : P2p::kBlocking;
  const bool same_step = run.step.empty() || before.step.options.reduce == after.step.options.reduce;
  if (run.p2p == p2p && same_step) {
    throw InputError(
        Diagnostic{"O026", "--overlap",
                   overlap ? "communication overlaps with compute already" : "communication holds compute already",
                   overlap ? "add --p2p blocking for a base without overlap" : "leave --overlap out"});
  }
  run.p2p = p2p;
}

// What a change of single ideal links leaves alone is planned on the links that the step knows.
void replan(const Scenario& scenario, const Run& prepared, const Changes& changes, Run& run) {
  const bool ideal = prepared.topology.network() == nullptr;
  if (!ideal) return replan_step_work(scenario, run);
  std::vector<LinkChange> all;
  std::copy_if(changes.links.begin(), changes.links.end(), std::back_inserter(all),
               [](const LinkChange& change) { return change.link.empty(); });
  const Topology between_stages = run.topology;
  run.topology = changed_topology(prepared.topology, all, run.schedule.devices, run.pipeline_replicas);
  replan_step_work(scenario, run);
  run.topology = between_stages;
}

// With ideal links between the stages the step's collectives have ports of their own, which only a change of all links
// concerns.
bool concerns_step(const Topology& before, const Changes& changes) {
  if (changes.overlap) return true;
  if (before.network() != nullptr) return !changes.links.empty();
  return std::any_of(changes.links.begin(), changes.links.end(),
                     [](const LinkChange& change) { return change.link.empty(); });
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
    run.variation.stage[static_cast<std::size_t>(changes.stage)] *= changes.stage_factor;
  }
  if (changes.overlap) set_overlap(scenario, after, *changes.overlap, run);
  if (concerns_step(prepared.topology, changes)) replan(after, prepared, changes, run);
  return run;
}

}  // namespace debubble
