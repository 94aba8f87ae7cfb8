// Speed of making schedules: the search of zb-auto, and every fixed order next to its simulation.
//
// To simulate an order is all that has to be done with it once it is there: lower it into a program, and run that for
// its totals. bench/engine_bench.cpp holds the two apart.
//
// Names matter: bench/main.cpp computes the promises from them.
#include <benchmark/benchmark.h>

#include <string>
#include <variant>

#include "cost_models/uniform.hpp"
#include "schedules/catalog.hpp"
#include "sim/engine/simulate.hpp"

namespace debubble::bench {

namespace {

// What costs most: stages that differ, so that no walk of the search ends early for having found the ideal, with
// memory that binds and hops that leave holes.
PlanningCosts uneven_costs(int devices) {
  PlanningCosts costs;
  for (int s = 0; s < devices; ++s) {
    StageCost stage;
    stage.forward = 10'000'000 + s * 77'777 % 1'000'000;
    stage.input_grad = 11'000'000 + s * 33'333 % 1'000'000;
    stage.weight_grad = 7'000'000 + s * 55'555 % 900'000;
    stage.activation = kMebibyte;
    stage.weight_grad_held = kMebibyte / 2;
    costs.costs.stages.push_back(stage);
  }
  costs.hops.assign(static_cast<std::size_t>(devices) - 1, 300'000);
  costs.activation_unit = kMebibyte;
  return costs;
}

void plan(benchmark::State& state, const PlanningCosts& costs, const std::string& limit) {
  ScheduleRequest request;
  request.devices = static_cast<int>(state.range(0));
  request.microbatches = static_cast<int>(state.range(1));
  request.params = {{"memory_limit", limit}};
  request.costs = &costs;
  for (auto _ : state) benchmark::DoNotOptimize(build_schedule("zb-auto", request));
  const std::int64_t ops = 3 * state.range(0) * state.range(1);
  state.SetItemsProcessed(state.iterations() * ops);
  state.counters["ops"] = static_cast<double>(ops);
}

void zb_auto_1p(benchmark::State& state) { plan(state, uneven_costs(static_cast<int>(state.range(0))), "1p"); }
void zb_auto_2p(benchmark::State& state) { plan(state, uneven_costs(static_cast<int>(state.range(0))), "2p"); }

void even_1p(benchmark::State& state) {
  PlanningCosts costs = uneven_costs(static_cast<int>(state.range(0)));
  for (StageCost& stage : costs.costs.stages) stage = costs.costs.stages.front();
  plan(state, costs, "1p");
}

ScheduleRequest request_of(const benchmark::State& state) {
  ScheduleRequest request;
  request.devices = static_cast<int>(state.range(0));
  request.microbatches = static_cast<int>(state.range(1));
  return request;
}

void generate(benchmark::State& state, const std::string& name) {
  const ScheduleRequest request = request_of(state);
  for (auto _ : state) benchmark::DoNotOptimize(build_schedule(name, request));
}

void simulate_row(benchmark::State& state, const std::string& name) {
  const Schedule schedule = build_schedule(name, request_of(state));
  const StageCosts costs = uniform_costs({}, schedule.stages, schedule.chunks);
  const Topology topology = Topology::ideal(10'000, 0);
  for (auto _ : state) {
    const auto lowered = lower(schedule);
    const auto* program = std::get_if<Program>(&lowered);
    if (program == nullptr) {
      state.SkipWithError("deadlocks");
      break;
    }
    benchmark::DoNotOptimize(simulate_totals(*program, costs, topology));
  }
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({8, 128})->Args({16, 256})->Args({64, 1024})->Unit(benchmark::kMillisecond);
}

BENCHMARK(zb_auto_1p)->Apply(sizes);
BENCHMARK(zb_auto_2p)->Apply(sizes);
BENCHMARK(even_1p)->Name("zb_auto_even")->Apply(sizes);

// A benchmark pair per row of the catalog whose order is fixed.
[[maybe_unused]] const bool kRegistered = [] {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    if (entry.uses_costs) continue;
    const std::string& name = entry.name;
    benchmark::RegisterBenchmark(("generate:" + name).c_str(), generate, name)->Args({16, 256});
    benchmark::RegisterBenchmark(("simulate:" + name).c_str(), simulate_row, name)->Args({16, 256});
  }
  return true;
}();

}  // namespace

}  // namespace debubble::bench
