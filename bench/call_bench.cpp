// One call of the library as a program makes it: flags, checks, schedule, simulation, report. bench/python_call sets a
// call of the Python module beside it.
#include <benchmark/benchmark.h>

#include "scenario/check_scenario.hpp"
#include "tools/commands/simulate_answer.hpp"

namespace debubble::bench {

namespace {

void simulate_call(benchmark::State& state) {
  for (auto _ : state) {
    ScenarioFlags flags;
    flags.schedules = {"1f1b"};
    flags.devices = static_cast<int>(state.range(0));
    flags.microbatches = static_cast<int>(state.range(1));
    const Scenario scenario = check_scenario(flags);
    NoProgress progress;
    benchmark::DoNotOptimize(answer_simulate(scenario, simulated_name(scenario), progress));
  }
}
BENCHMARK(simulate_call)->Args({8, 32});

}  // namespace

}  // namespace debubble::bench
