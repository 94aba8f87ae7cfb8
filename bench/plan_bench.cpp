// Speed of plans: a base, its bounds, what its step adds, the walk of its order, one candidate against its bare
// simulation, the whole command, and two threads against one.
//
// Names matter: bench/main.cpp computes the promises from them.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/child.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/job.hpp"
#include "studies/plan/bounds.hpp"
#include "studies/plan/evaluations.hpp"
#include "studies/plan/plan.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble::bench {

namespace {

// Llama-3-70B on 64 H100s, 1,024 samples per step: the first example of docs/plan.md.
PlanJob planned_job(const std::string& model, int gpus, int batch) {
  ScenarioFlags job;
  job.transformer.model = model;
  PlanFlags flags;
  flags.gpus = gpus;
  flags.global_batch = batch;
  return read_plan(job, flags);
}

PlanChoice planned_choice() {
  PlanChoice choice;
  choice.tensor = 2;
  choice.sequence = true;
  choice.pipeline = 8;
  choice.data = 4;
  choice.zero = 1;
  choice.microbatches = 256;
  choice.schedule = "v-half";
  choice.chunks = 2;
  return choice;
}

void plan_base(benchmark::State& state) {
  const PlanRequest request = planned_job("llama3-70b", 64, 1024).request;
  const PlanChoice choice = planned_choice();
  for (auto _ : state) benchmark::DoNotOptimize(evaluate_base(request, choice, 3));
}

// All orders of one base and ZeRO stage.
void plan_bounds(benchmark::State& state) {
  const PlanRequest request = planned_job("llama3-70b", 64, 1024).request;
  std::vector<PlanChoice> choices;
  std::map<PatternKey, Pattern> patterns;
  for (const PlanVariant& variant : plan_space(request).variants) {
    choices.push_back(planned_choice());
    choices.back().schedule = variant.schedule;
    choices.back().chunks = variant.chunks;
    patterns.emplace(pattern_key(choices.back()), make_pattern(request, choices.back()));
  }
  for (auto _ : state) benchmark::DoNotOptimize(bounded(request, choices, patterns));
  state.counters["ops"] = static_cast<double>(choices.size());
}

void plan_step(benchmark::State& state) {
  const PlanRequest request = planned_job("llama3-70b", 64, 1024).request;
  const PlanChoice choice = planned_choice();
  const Pattern pattern = make_pattern(request, choice);
  for (auto _ : state) benchmark::DoNotOptimize(make_step_costs(request, choice, pattern.shape));
}

void plan_walk(benchmark::State& state) {
  const PlanChoice choice = planned_choice();
  const PlanRequest request = planned_job("llama3-70b", 64, 1024).request;
  NoProgress progress;
  const Job job = prepare(check_scenario(flags_of(choice, request.job)), choice.schedule, progress);
  for (auto _ : state) {
    const auto program = std::get<Program>(lower(job.schedule, job.p2p));
    benchmark::DoNotOptimize(walk_bound(job.schedule, program, job.costs));
  }
}

// With reading its flags, modelling its layers, building its order and planning its collectives.
void plan_candidate(benchmark::State& state) {
  const PlanRequest request = planned_job("llama3-70b", 64, 1024).request;
  const PlanChoice choice = planned_choice();
  for (auto _ : state) {
    Evaluation one;
    simulate_choice(request, choice, one);
    benchmark::DoNotOptimize(one);
  }
}

void plan_bare(benchmark::State& state) {
  const PlanChoice choice = planned_choice();
  const PlanRequest request = planned_job("llama3-70b", 64, 1024).request;
  NoProgress progress;
  const Job job = prepare(check_scenario(flags_of(choice, request.job)), choice.schedule, progress);
  for (auto _ : state) benchmark::DoNotOptimize(simulate(job, progress));
}

// CPU time of the real command: all of the space, proven, and the best that each framework runs.
void command_plan(benchmark::State& state) {
  time_command(state, {"plan", "--model", "llama3-70b", "--gpus", std::to_string(state.range(0)), "--global-batch",
                       std::to_string(state.range(1)), "--format", "csv"});
}

// The time from its start to its end on so many threads: what a thread waits for another counts.
void plan_threads(benchmark::State& state) {
  time_command(state,
               {"plan", "--model", "llama3-70b", "--gpus", "64", "--global-batch", "1024", "--format", "csv",
                "--threads", std::to_string(state.range(0))},
               Counted::kElapsed);
}

BENCHMARK(plan_base)->Unit(benchmark::kMicrosecond);
BENCHMARK(plan_bounds)->Unit(benchmark::kMicrosecond);
BENCHMARK(plan_step)->Unit(benchmark::kMicrosecond);
BENCHMARK(plan_walk)->Unit(benchmark::kMicrosecond);
BENCHMARK(plan_candidate)->Unit(benchmark::kMillisecond);
BENCHMARK(plan_bare)->Unit(benchmark::kMillisecond);
BENCHMARK(plan_threads)->Arg(1)->Arg(2)->UseManualTime()->Iterations(1)->Repetitions(3)->Unit(benchmark::kMillisecond);
BENCHMARK(command_plan)->Args({64, 1024})->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace debubble::bench
