// Speed of the modelled cluster: contended runs against contention-free ones, a whole step of 16,384 GPUs, many seeds.
//
// Names matter: bench/main.cpp computes the promises from them.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cost_models/uniform.hpp"
#include "schedules/catalog.hpp"
#include "sim/engine/cluster.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/topologies/catalog.hpp"

namespace debubble::bench {

namespace {

Schedule one_f_one_b(int devices, int microbatches) {
  ScheduleRequest request;
  request.devices = devices;
  request.microbatches = microbatches;
  return build_schedule("1f1b", request);
}

// Activations large enough that transfers meet: about a third of an op's time between machines.
StageCosts costs_of(int stages) {
  StageCosts costs = uniform_costs({}, stages, 1);
  for (StageCost& stage : costs.stages) stage.output = 16 * kMebibyte;
  return costs;
}

std::shared_ptr<Network> network_on(const std::string& preset, int pipeline, int data, int tensor) {
  auto network = std::make_shared<Network>();
  network->graph = build_topology(preset);
  network->layout.sizes.pipeline = pipeline;
  network->layout.sizes.data = data;
  network->layout.sizes.tensor = tensor;
  return network;
}

// One step of 1F1B on 64 GPUs of 8 machines: with links that are shared, and the walk that knows no such thing.
struct Contended {
  Schedule schedule = one_f_one_b(64, 1024);
  Program program = std::get<Program>(lower(schedule));
  StageCosts costs = costs_of(64);
  Topology topology = Topology::over(network_on("dgx-h100:8", 64, 1, 1));
};

void contended_free(benchmark::State& state) {
  const Contended run;
  for (auto _ : state) benchmark::DoNotOptimize(simulate_totals(run.program, run.costs, run.topology));
}

void contended(benchmark::State& state) {
  const Contended run;
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulate_cluster_totals(run.program, run.schedule, run.costs, run.topology, {}));
  }
}

// Rings over the data-parallel ranks of a stage, one for each tensor rank, as one flow.
Flow ring_all_reduce(const Network& network, int stage, Bytes bytes) {
  const Parallelism& sizes = network.layout.sizes;
  const double weight = 2.0 * (sizes.data - 1) / sizes.data;
  std::map<std::int32_t, double> weights;
  std::vector<std::int32_t> route;
  for (int tensor = 0; tensor < sizes.tensor; ++tensor) {
    for (int data = 0; data < sizes.data; ++data) {
      route.clear();
      network.graph.router->route(network.layout.device(tensor, 0, data, stage),
                                  network.layout.device(tensor, 0, (data + 1) % sizes.data, stage), route);
      for (const std::int32_t link : route) weights[link] += weight;
    }
  }
  Flow flow;
  flow.bytes = bytes;
  for (const auto& [link, share] : weights) flow.path.links.push_back({link, share});
  flow.path.latency = 500'000;
  return flow;
}

// Gradients of each stage over all replicas, slowing down the compute that they overlap, then its optimizer.
StepWork data_parallel_step(const Network& network, int stages) {
  StepWork step;
  for (std::int32_t stage = 0; stage < stages; ++stage) {
    StepTask reduce;
    reduce.kind = StepTask::Kind::kGradientReduce;
    reduce.devices = {stage};
    reduce.across_replicas = true;
    reduce.phases = {{ring_all_reduce(network, stage, 256 * kMebibyte)}};
    reduce.slow_down = 0.1;
    reduce.after_stages = {{0, stage}};
    step.tasks.push_back(reduce);
    StepTask optimizer;
    optimizer.kind = StepTask::Kind::kOptimizer;
    optimizer.lane = StepTask::Lane::kCompute;
    optimizer.devices = {stage};
    optimizer.duration = 2'000'000;
    optimizer.after = {static_cast<std::int32_t>(step.tasks.size()) - 1};
    step.tasks.push_back(optimizer);
  }
  return step;
}

// PP16 x DP(range) x TP8, 16 microbatches, every op of every replica of another length; all spans recorded.
void cluster_step(benchmark::State& state) {
  constexpr int kStages = 16;
  const auto replicas = static_cast<int>(state.range(0));
  const Schedule schedule = one_f_one_b(kStages, 16);
  const Program program = std::get<Program>(lower(schedule));
  const StageCosts costs = costs_of(kStages);
  const auto network = network_on("dgx-h100:" + std::to_string(kStages * replicas), kStages, replicas, 8);
  const StepWork step = data_parallel_step(*network, kStages);
  const Topology topology = Topology::over(network);
  Variation variation;
  variation.jitter = 0.05;
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulate_cluster(program, schedule, costs, topology, {&step, &variation, replicas}));
  }
}

// 1,000 draws of a pipeline whose ops vary.
void jitter_seeds(benchmark::State& state) {
  const Schedule schedule = one_f_one_b(16, 64);
  const Program program = std::get<Program>(lower(schedule));
  const StageCosts costs = uniform_costs({}, schedule.stages, 1);
  const Topology topology = Topology::ideal(10'000, 0);
  Variation variation;
  variation.jitter = 0.05;
  for (auto _ : state) {
    for (variation.seed = 1; variation.seed <= 1'000; ++variation.seed) {
      benchmark::DoNotOptimize(
          simulate_varied(program, costs, topology, varied_durations(program, schedule, costs, variation, 0)));
    }
  }
}

BENCHMARK(contended_free)->Unit(benchmark::kMillisecond);
BENCHMARK(contended)->Unit(benchmark::kMillisecond);
BENCHMARK(cluster_step)->Arg(32)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(jitter_seeds)->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace debubble::bench
