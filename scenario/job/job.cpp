#include "scenario/job/job.hpp"

#include <utility>

#include "formats/text/shell.hpp"
#include "scenario/job/assumptions.hpp"
#include "scenario/job/links.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/job/make_variation.hpp"
#include "scenario/job/memory_limits.hpp"
#include "scenario/job/model_facts.hpp"
#include "scenario/job/simulated_cut.hpp"
#include "scenario/job/stage_costs.hpp"
#include "scenario/job/step.hpp"
#include "scenario/job/transforms.hpp"

namespace debubble {

Job prepare_schedule(const Scenario& scenario, const std::string& name, Progress& progress) {
  Job job;
  progress.phase("building " + name);
  job.schedule = make_schedule(scenario, name);
  job.p2p = transfers_of(scenario, name, !job.schedule.receives.empty());
  if (!is_table_file(name)) {
    assume(job.assumptions, "devices", std::to_string(job.schedule.devices),
           given_or_default(scenario.devices.has_value()));
    assume(job.assumptions, "microbatches", std::to_string(job.schedule.microbatches),
           given_or_default(scenario.microbatches.has_value()));
    if (job.schedule.chunks > 1) {
      assume(job.assumptions, assumption_key::kStagesPerDevice, std::to_string(job.schedule.chunks),
             given_or_default(scenario.chunks != 0));
    }
  }
  return job;
}

namespace {

CutJob prepare_cut(const Scenario& scenario, const std::string& name, Progress& progress) {
  CutJob made;
  Job& job = made.job;
  job = prepare_schedule(scenario, name, progress);
  StageCostsMade costs = make_stage_costs(scenario, job.schedule);
  append(job.assumptions, std::move(costs.assumptions));
  job.partition = costs.cut.layers;
  made.cut = std::move(costs.cut);
  if (scenario.profile) {
    job.samples_per_microbatch = scenario.profile->microbatch_size;
    job.tokens_per_sample = scenario.profile->sequence_length;
  }
  if (scenario.profile && job.schedule.asynchrony) {
    assume(job.assumptions, "extra weight version", "the stage's weights, in the precision of the profile",
           Source::kDefault);
  }
  job.topology = taken(make_topology(scenario, job.schedule.devices), job.assumptions);
  assume_transfers(scenario, job.p2p, job.assumptions);
  job.sizes = scenario.cluster.sizes;
  job.pipeline_replicas = job.sizes.data;
  job.variation = make_variation(scenario.variation, job.schedule, job.pipeline_replicas, job.assumptions);
  StepMade step = make_step(scenario, std::move(costs.costs), {job.schedule, job.partition, job.topology});
  append(job.assumptions, std::move(step.assumptions));
  job.costs = std::move(step.costs);
  job.step = std::move(step.work);
  ModelFacts model = model_facts(scenario, job.schedule.devices);
  append(job.assumptions, std::move(model.assumptions));
  job.model_findings = std::move(model.findings);
  job.microbatch_flops = model.microbatch_flops;
  job.peak_flops = model.peak_flops;
  job.memory = taken(make_memory_limits(scenario, job.schedule.devices), job.assumptions);
  job.extra_work = extra_work(scenario.transforms, job.assumptions);
  for (Assumption& assumption : job.assumptions) assumption.amount = printable(assumption.amount);
  return made;
}

}  // namespace

Job prepare(const Scenario& scenario, const std::string& name, Progress& progress) {
  return job_of_cut(scenario, name, [&](const Scenario& one) { return prepare_cut(one, name, progress); });
}

}  // namespace debubble
