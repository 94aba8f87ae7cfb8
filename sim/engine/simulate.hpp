// simulate: Program + StageCosts + Topology -> when everything starts and ends, and how much memory that takes.
//
// Start rule. A cell starts when its device's compute lane is free and all its inputs have arrived. An input from
// another device arrives a transfer time after its producer's end; between stages on one device hand-over is free.
//
// Two entrances to one rule: `simulate_totals` keeps a few numbers per device, for sweeps; `simulate` records every
// span and transfer with what it waited for. Both give the same times to the nanosecond.
#pragma once

#include <vector>

#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/timeline.hpp"
#include "sim/core/topology.hpp"
#include "sim/engine/program.hpp"

namespace debubble {

struct DeviceTotals {
  Nanoseconds first_begin = 0;
  Nanoseconds last_end = 0;
  Nanoseconds busy = 0;
  Bytes peak_memory = 0;      // everything, static state and received tensors included
  Bytes peak_activation = 0;  // activations and what is held from I to W
  Bytes peak_host = 0;        // what its copies have put into the host's memory
};

struct Totals {
  Nanoseconds makespan = 0;
  Nanoseconds span = 0;  // max over devices of last_end - first_begin: the zero-bubble papers' cost
  std::vector<DeviceTotals> devices;
};

// Throws InputError when the run could exceed what a 64-bit nanosecond or byte count holds.
[[nodiscard]] Totals simulate_totals(const Program& program, const StageCosts& costs, const Topology& topology);
// The same by what transfers take, for planners that know no topology.
[[nodiscard]] Totals simulate_totals(const Program& program, const StageCosts& costs, const TransferTimes& transfers);

// `schedule` is the one that was lowered: its rows name the ops.
[[nodiscard]] Timeline simulate(const Program& program, const Schedule& schedule, const StageCosts& costs,
                                const Topology& topology);
[[nodiscard]] Timeline simulate(const Program& program, const Schedule& schedule, const StageCosts& costs,
                                const TransferTimes& transfers);

// Iterations chained without a barrier: each device starts the next iteration as soon as it ends the last. Returns the
// time per iteration once the pattern repeats (the zero-bubble papers' parallelogram), exact to the nanosecond when it
// repeats within `max_iterations`, else the mean over the second half of them. Where transfers hold lanes, those of an
// iteration are placed as in a single run: the lowering does not reach across iterations.
[[nodiscard]] Nanoseconds steady_period(const Program& program, const StageCosts& costs, const Topology& topology,
                                        int max_iterations = 64);

}  // namespace debubble
