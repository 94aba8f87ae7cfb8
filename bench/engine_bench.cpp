// Speed of lowering and simulating, and of the whole command, against the floor of bench/floor.hpp.
//
// Names matter: bench/main.cpp computes the promised ratios from them.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <variant>
#include <vector>

#include "bench/child.hpp"
#include "bench/floor.hpp"
#include "cost_models/uniform.hpp"
#include "schedules/catalog.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/engine/simulate.hpp"

namespace debubble::bench {

namespace {

Schedule one_f_one_b(const benchmark::State& state) {
  ScheduleRequest request;
  request.devices = static_cast<int>(state.range(0));
  request.microbatches = static_cast<int>(state.range(1));
  return build_schedule("1f1b", request);
}

void count_ops(benchmark::State& state, std::size_t ops) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(ops));
  state.counters["ops"] = static_cast<double>(ops);
}

void floor_1f1b(benchmark::State& state) {
  const Floor floor = make_floor(std::get<Program>(lower(one_f_one_b(state))));
  std::vector<std::int64_t> ends;
  std::vector<Floor::Lane> lanes;
  for (auto _ : state) benchmark::DoNotOptimize(run_floor(floor, ends, lanes));
  count_ops(state, floor.ops.size());
}

void simulate_1f1b(benchmark::State& state) {
  const Schedule schedule = one_f_one_b(state);
  const Program program = std::get<Program>(lower(schedule));
  const StageCosts costs = uniform_costs({}, schedule.stages, 1);
  const Topology topology = Topology::ideal(10'000, 0);
  for (auto _ : state) benchmark::DoNotOptimize(simulate_totals(program, costs, topology));
  count_ops(state, program.nodes.size());
}

void lower_1f1b(benchmark::State& state) {
  const Schedule schedule = one_f_one_b(state);
  for (auto _ : state) benchmark::DoNotOptimize(lower(schedule));
  count_ops(state, schedule.total_ops());
}

void record_1f1b(benchmark::State& state) {
  const Schedule schedule = one_f_one_b(state);
  const Program program = std::get<Program>(lower(schedule));
  const StageCosts costs = uniform_costs({}, schedule.stages, 1);
  for (auto _ : state) benchmark::DoNotOptimize(simulate(program, schedule, costs, Topology::ideal(10'000, 0)));
  count_ops(state, program.nodes.size());
}

// A memory peak that needs arrival times too: received tensors have a size.
void simulate_1f1b_received(benchmark::State& state) {
  const Schedule schedule = one_f_one_b(state);
  const Program program = std::get<Program>(lower(schedule));
  StageCosts costs = uniform_costs({}, schedule.stages, 1);
  for (StageCost& stage : costs.stages) stage.output = kMebibyte;
  for (auto _ : state) benchmark::DoNotOptimize(simulate_totals(program, costs, Topology::ideal(10'000, 0)));
  count_ops(state, program.nodes.size());
}

// CPU time of the real binary, start-up included. DEBUBBLE_BINARY names it; the build passes its own.
void command_simulate(benchmark::State& state) {
  time_command(state, {"simulate", "--schedule", "1f1b", "-p", "8", "-m", "64"});
}

// From rows to report, with every span: long pipelines of few microbatches, whose waits reach far back.
void report_1f1b(benchmark::State& state) {
  const Schedule schedule = one_f_one_b(state);
  const StageCosts costs = uniform_costs({}, schedule.stages, 1);
  for (auto _ : state) {
    const Program program = std::get<Program>(lower(schedule));
    const Timeline timeline = simulate(program, schedule, costs, Topology::ideal(10'000, 0));
    benchmark::DoNotOptimize(analyse(timeline, schedule, costs));
  }
  count_ops(state, schedule.total_ops());
}
void lower_blocking_1f1b(benchmark::State& state) {
  const Schedule schedule = one_f_one_b(state);
  for (auto _ : state) benchmark::DoNotOptimize(lower(schedule, P2p::kBlocking));
  count_ops(state, schedule.total_ops());
}

// The memory of the real binary at its most: bytes, where times are seconds.
void command_memory(benchmark::State& state) {
  const std::int64_t microbatches = state.range(0);
  time_command(state, {"simulate", "-p", "2", "-m", std::to_string(microbatches), "--format", "csv"},
               Counted::kMostMemory);
  count_ops(state, static_cast<std::size_t>(4 * microbatches));
}

void sizes(benchmark::internal::Benchmark* benchmark) { benchmark->Args({16, 256})->Args({64, 1024}); }
void decades(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({8, 63})->Args({8, 625})->Args({16, 3'125})->Args({64, 7'813})->Args({64, 78'125});
}

BENCHMARK(floor_1f1b)->Apply(sizes);
BENCHMARK(simulate_1f1b)->Apply(sizes)->Apply(decades);
BENCHMARK(lower_1f1b)->Apply(sizes);
BENCHMARK(record_1f1b)->Apply(sizes);
BENCHMARK(simulate_1f1b_received)->Apply(sizes);
BENCHMARK(report_1f1b)->Args({1'000, 8})->Args({10'000, 8})->Args({100'000, 8});
BENCHMARK(lower_blocking_1f1b)->Args({1'000, 8})->Args({100'000, 8});
BENCHMARK(command_memory)->Arg(1'000'000)->Arg(10'000'000)->UseManualTime()->Iterations(1);
BENCHMARK(command_simulate)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace debubble::bench
