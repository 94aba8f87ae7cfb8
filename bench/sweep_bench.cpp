// Speed of sweeps: the whole command per row, a row of an already modelled job against its bare simulation, and two
// threads against one.
//
// Names matter: bench/main.cpp computes the promised ratios from them.
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "bench/child.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/job.hpp"
#include "studies/simulate/simulate.hpp"
#include "studies/sweep/pipeline.hpp"

namespace debubble::bench {

namespace {

using SweptFlagTexts = std::vector<std::pair<std::string, std::string>>;

SweepFlags swept_flags(const SweptFlagTexts& texts) {
  SweepFlags flags;
  const FlagRows rows = flags.rows();
  for (const auto& [name, text] : texts) {
    if (!set_flag(*find_flag(rows, name), text)) std::abort();
  }
  return flags;
}

const SweptFlagTexts kModelledJob{{"--model", "llama3-8b"}, {"--devices", "8"}, {"--tp", "2"}, {"--dp", "2"}};

// One candidate after the other: p=8, m from 30 to 34, memory included.
void sweep_row_modelled(benchmark::State& state) {
  SweptFlagTexts texts = kModelledJob;
  texts.emplace_back("--microbatches", "30:34");
  const SweepFlags flags = swept_flags(texts);
  const SweepSpace space(flags);
  SweepRunner runner(space);
  std::int64_t row = 0;
  for (auto _ : state) benchmark::DoNotOptimize(runner.run(row++ % space.rows()));
}

void sweep_bare_modelled(benchmark::State& state) {
  ScenarioFlags flags;
  const FlagRows rows = flag_rows(flags);
  for (const auto& [name, text] : kModelledJob) {
    if (!set_flag(*find_flag(rows, name), text)) std::abort();
  }
  flags.microbatches = 32;
  NoProgress progress;
  const Job job = prepare(check_scenario(flags), "1f1b", progress);
  for (auto _ : state) benchmark::DoNotOptimize(simulate(job, progress));
}

// From the flags to a job that can be simulated, with the tables of kernels in memory.
void modelled_setup(benchmark::State& state) {
  ScenarioFlags flags;
  const FlagRows rows = flag_rows(flags);
  for (const auto& [name, text] : kModelledJob) {
    if (!set_flag(*find_flag(rows, name), text)) std::abort();
  }
  flags.microbatches = 32;
  NoProgress progress;
  for (auto _ : state) benchmark::DoNotOptimize(prepare(check_scenario(flags), "1f1b", progress));
}

using WaitClock = std::chrono::steady_clock;

// A worker that counts how long its thread waits between blocks.
BlockWorker watched(const BlockWorker& work, std::atomic<std::int64_t>& waited) {
  return [work, &waited, idle_since = WaitClock::now()](const BlockRange& block) mutable {
    waited += (WaitClock::now() - idle_since).count();
    SweepBlock done = work(block);
    idle_since = WaitClock::now();
    return done;
  };
}

// What 4,000 rows cost so many threads: CPU time, and the time that they wait for work. Unlike wall-clock time it is
// the same beside other programs.
void sweep_threads(benchmark::State& state) {
  const SweepFlags flags =
      swept_flags({{"--devices", "8"}, {"--microbatches", "32"}, {"--comm", "0.0001:0.4:+0.0001"}});
  const SweepSpace space(flags);
  const SweepForm form;
  const MakeBlockWorker make_worker = sweep_workers(space, form);
  const auto threads = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const double before = cpu_seconds(RUSAGE_SELF);
    std::atomic<std::int64_t> waited = 0;  // ns
    pipe_blocks(
        {0, space.rows(), 64}, threads, [&] { return watched(make_worker(), waited); }, [] { return true; },
        [](const SweepBlock& block) { benchmark::DoNotOptimize(&block); });
    state.SetIterationTime(cpu_seconds(RUSAGE_SELF) - before + static_cast<double>(waited) * 1e-9);
  }
  state.counters["ops"] = static_cast<double>(space.rows());
}

// CPU time of the real command on all cores, start-up and all: 10,000 rows of 1F1B, p=8, m=32.
void command_sweep(benchmark::State& state) {
  time_command(state, {"sweep", "-p", "8", "-m", "32", "--comm", "0.0001:1:+0.0001", "--format", "csv"});
  state.counters["ops"] = 10'000;
}

BENCHMARK(modelled_setup);
BENCHMARK(sweep_row_modelled);
BENCHMARK(sweep_bare_modelled);
BENCHMARK(sweep_threads)->Arg(1)->Arg(2)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(command_sweep)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace debubble::bench
