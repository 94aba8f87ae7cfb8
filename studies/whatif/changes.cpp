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
P2p changed_p2p(const Scenario& before, const Scenario& after, bool overlap, const Job& job) {
  const P2p p2p = overlap ? P2p::kOverlapped : P2p::kBlocking;
  const bool same_step = job.step.empty() || before.step.options.reduce == after.step.options.reduce;
  if (job.p2p == p2p && same_step) {
    throw InputError(
        Diagnostic{"O024", "--overlap",
                   overlap ? "communication overlaps with compute already" : "communication holds compute already",
                   overlap ? "add --p2p blocking for a base without overlap" : "leave --overlap out"});
  }
  return p2p;
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
Job with_links_followed(const Scenario& scenario, const Job& prepared, const std::vector<LinkChange>& links, Job job) {
  if (prepared.topology.network() != nullptr) return LinkFollower(scenario, prepared).followed(std::move(job));
  const std::vector<LinkChange> all = of_all(links);
  double bandwidth = 1;
  double latency = 1;
  for (const LinkChange& change : all) {
    bandwidth *= change.bandwidth;
    latency *= change.latency;
  }
  const Topology step_links = changed_topology(prepared.topology, all, job.schedule.devices, job.pipeline_replicas);
  return LinkFollower(scenario, prepared).followed_ideal(bandwidth, latency, step_links, std::move(job));
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

Job changed_job(const Scenario& scenario, const Job& prepared, const Changes& changes) {
  Job job = prepared;
  const Scenario after = changed_scenario(scenario, changes);
  job.topology = changed_topology(job.topology, changes.links, job.schedule.devices, job.pipeline_replicas);
  job.variation = make_variation(changed_variation(scenario, changes), job.schedule, job.pipeline_replicas);
  if (changes.stage >= 0) {
    job.variation.stage.resize(static_cast<std::size_t>(job.schedule.stages), 1);
    at(job.variation.stage, changes.stage) *= changes.stage_factor;
  }
  if (changes.overlap) job.p2p = changed_p2p(scenario, after, *changes.overlap, job);
  const bool ideal = prepared.topology.network() == nullptr;
  const bool links = ideal ? !of_all(changes.links).empty() : !changes.links.empty();
  if (links || changes.overlap) return with_links_followed(after, prepared, changes.links, std::move(job));
  return job;
}

}  // namespace debubble
