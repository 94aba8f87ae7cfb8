// Lower bounds of a run's step time and of the memory that each of its devices takes, without simulating it. Neither
// ever exceeds what the engine finds (tests/plan/bounds_test.cpp), so what they exclude is excluded for good.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/core/p2p.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/step_work.hpp"
#include "sim/core/units.hpp"
#include "sim/engine/program.hpp"
#include "studies/plan/order_summary.hpp"

namespace debubble {

// The order may be that of fewer microbatches than the run's: it is then a pattern of it. Of `microbatches`:
//     step >= on every device:  the forwards before its first op can begin  (fill)
//                             + all its ops                                 (busy)
//                             + the backwards of earlier stages after its last op, where backwards are whole (drain),
//                               or the collectives and the optimizer after it, whichever is longer
// Transfers, waits and contention are left out.
[[nodiscard]] Nanoseconds step_bound(const OrderSummary& order, const StageCosts& costs, const StepWork& step,
                                     int microbatches);

// By replica and stage: the longest chain of the step's tasks that begins when that has ended.
using StepChains = std::map<std::pair<std::int32_t, std::int32_t>, Nanoseconds>;
[[nodiscard]] StepChains chains_of(const StepWork& step);
// The same.
[[nodiscard]] Nanoseconds chained_step_bound(const OrderSummary& order, const StageCosts& costs,
                                             const StepChains& chains, int microbatches);

// How long the whole order takes on ideal links without its training step, each op as soon as it can: no run of it
// takes less. 0 where activations are copied, which engines of their own may do in another order. `program`: the
// schedule, lowered.
[[nodiscard]] Nanoseconds walk_bound(const Schedule& schedule, const Program& program, const StageCosts& costs);

// By device: weights, gradients, optimizer, buffers, and the most that the order holds at once, with the workspace of
// the op that runs. What an allocator takes is no less.
[[nodiscard]] std::vector<Bytes> memory_bound(const OrderSummary& order, const StageCosts& costs);

// How much more than the capacity (one for all devices, or one each) the bound of the device is that lacks most; 0
// where it may fit, or nothing is judged.
[[nodiscard]] Bytes missing_memory(const std::vector<Bytes>& bounds, const std::vector<Bytes>& capacities,
                                   Bytes free = 0);

}  // namespace debubble
