// Builds a schedule through the catalog, lowers it, simulates it, and prints how long it takes: (8 + 4 - 1) x 3 ms.
#ifdef DEBUBBLE_FROM_SOURCE
#include "cost_models/uniform.hpp"
#include "schedules/catalog.hpp"
#include "sim/engine/program.hpp"
#include "sim/engine/simulate.hpp"
#else
#include <debubble/cost_models/uniform.hpp>
#include <debubble/schedules/catalog.hpp>
#include <debubble/sim/engine/program.hpp>
#include <debubble/sim/engine/simulate.hpp>
#endif

#include <cstdio>
#include <variant>

int main() {
  debubble::ScheduleRequest request;
  request.devices = 4;
  request.microbatches = 8;
  const debubble::Schedule schedule = debubble::build_schedule("1f1b", request);
  const auto lowered = debubble::lower(schedule);
  const auto* program = std::get_if<debubble::Program>(&lowered);
  if (program == nullptr) {
    return 1;
  }
  const debubble::StageCosts costs = debubble::uniform_costs({}, 4, 1);
  const debubble::Totals totals = debubble::simulate_totals(*program, costs, debubble::Topology{});
  std::printf("makespan %lld ms\n", static_cast<long long>(totals.makespan / debubble::kNanosecondsPerMillisecond));
  return 0;
}
