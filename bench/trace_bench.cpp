// Writing the trace of a large run in Perfetto's format, idle times and critical path included. An event is a
// begin, an end, a point or a count.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/exporters/perfetto_trace.hpp"
#include "schedules/catalog.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/engine/simulate.hpp"

namespace debubble::bench {

namespace {

void write_perfetto(benchmark::State& state) {
  const auto microbatches = static_cast<int>(state.range(0));
  const Schedule schedule =
      build_schedule("1f1b", {.devices = 8, .microbatches = microbatches, .chunks = 0, .params = {}});
  StageCost cost;
  cost.forward = 1'000'000;
  cost.backward = 2'000'000;
  cost.activation = kMebibyte;
  const StageCosts costs{std::vector<StageCost>(8, cost), std::nullopt, std::nullopt};
  const auto lowered = lower(schedule, P2p::kOverlapped);
  const Timeline timeline =
      simulate(std::get<Program>(lowered), schedule, costs, Topology::ideal(50'000, 100'000'000'000));
  const Report report = analyse(timeline, schedule, costs);
  const auto memory = memory_curves(timeline, schedule, costs);
  std::int64_t events = 0;
  std::size_t bytes = 0;
  for (auto _ : state) {
    events = write_perfetto_trace(timeline, schedule, report, memory, {},
                                  [&](std::string_view piece) { bytes += piece.size(); });
    benchmark::DoNotOptimize(bytes);
  }
  state.SetItemsProcessed(state.iterations() * events);
  state.counters["ops"] = static_cast<double>(events);  // what the promise is per
}

BENCHMARK(write_perfetto)->Arg(1000)->Arg(30000)->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace debubble::bench
