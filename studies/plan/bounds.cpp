#include "studies/plan/bounds.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/topology.hpp"
#include "sim/engine/simulate.hpp"

namespace debubble {
namespace {

// Of one piece of a microbatch on the stages before each; where pieces differ in size nothing is known.
struct Paths {
  std::vector<Nanoseconds> fill;
  std::vector<Nanoseconds> drain;
};

Paths paths_of(const OrderSummary& order, const StageCosts& costs) {
  Paths paths;
  Nanoseconds forward = 0;
  Nanoseconds backward = 0;
  for (const StageCost& cost : costs.stages) {
    paths.fill.push_back(forward);
    paths.drain.push_back(backward);
    if (!order.even_pieces) continue;
    forward += cost.forward / order.pieces;
    // After a weight gradient nothing need follow.
    if (!order.split_backward) backward += cost.backward / order.pieces;
  }
  return paths;
}

Nanoseconds shortest(const std::vector<Nanoseconds>& paths, const std::vector<HeldStage>& held) {
  Nanoseconds least = held.empty() ? 0 : std::numeric_limits<Nanoseconds>::max();
  for (const HeldStage& one : held) least = std::min(least, at(paths, one.stage));
  return least;
}

// Whichever of its stages a device ends with, so much follows at least.
Nanoseconds shortest_chain(const StepChains& chains, const std::vector<HeldStage>& held) {
  if (held.empty() || chains.empty()) return 0;
  Nanoseconds least = std::numeric_limits<Nanoseconds>::max();
  for (const HeldStage& one : held) {
    const auto found = chains.find({one.replica, one.stage});
    least = std::min(least, found == chains.end() ? 0 : found->second);
  }
  return least;
}

double cell_time(const OrderSummary& order, const StageCosts& costs, const CellCount& cell) {
  const auto duration = [&](OpKind kind, std::int32_t stage) {
    return static_cast<double>(duration_of(kind, at(costs.stages, stage))) / order.pieces;
  };
  const double first = duration(cell.kind, cell.stage);
  if (!cell.paired) return first;
  if (costs.overlapped_pair) return static_cast<double>(*costs.overlapped_pair) / order.pieces;
  const double second = duration(cell.partner_kind, cell.partner_stage);
  return order.side_by_side ? std::max(first, second) : first + second;
}

// With the order's own microbatches: all cells of the device.
double time_of_cells(const OrderSummary& order, const StageCosts& costs, const DeviceSummary& device) {
  double sum = 0;
  for (const CellCount& cell : device.cells) sum += cell_time(order, costs, cell) * static_cast<double>(cell.count);
  return sum;
}

// With more: its forwards, and for each the cheaper of a whole and a split backward, of which an order may have others
// than its pattern. Where replicas share the microbatches unevenly, some less count.
double time_of_pattern(const OrderSummary& order, const StageCosts& costs, const DeviceSummary& device,
                       int microbatches) {
  if (order.has_pairs && costs.overlapped_pair) return 0;
  double sum = 0;
  double longest = 0;
  const auto add_forward = [&](std::int32_t stage, std::int64_t count) {
    const StageCost& cost = at(costs.stages, stage);
    const Nanoseconds halves = cost.input_grad + cost.weight_grad;
    const Nanoseconds backward = order.split_backward ? std::min(cost.backward, halves) : cost.backward;
    const double time = static_cast<double>(cost.forward + backward) / order.pieces;
    sum += time * static_cast<double>(count);
    longest = std::max(longest, time);
  };
  for (const CellCount& cell : device.cells) {
    if (cell.kind == OpKind::kForward) add_forward(cell.stage, cell.count);
    if (cell.paired && cell.partner_kind == OpKind::kForward) add_forward(cell.partner_stage, cell.count);
  }
  const double less = order.replicas == 1 ? 0 : longest * order.pieces * order.replicas;
  // Members side by side take as long as the longer one: half of both together, or more.
  const double engines = order.has_pairs && order.side_by_side ? 2 : 1;
  return (sum * microbatches / order.microbatches - less) / engines;
}

Nanoseconds busy_time(const OrderSummary& order, const StageCosts& costs, const DeviceSummary& device,
                      int microbatches) {
  const bool whole = order.microbatches == microbatches && !order.planned;
  const double time = whole ? time_of_cells(order, costs, device) : time_of_pattern(order, costs, device, microbatches);
  double ops = 0;
  for (const CellCount& cell : device.cells) ops += static_cast<double>(cell.paired ? 2 * cell.count : cell.count);
  // Pieces are rounded to nanoseconds one by one.
  const double rounding = order.pieces > 1 ? ops * microbatches / order.microbatches : 0;
  return static_cast<Nanoseconds>(std::max(0.0, time - rounding));
}

Bytes static_bytes(const StageCosts& costs, const DeviceSummary& device) {
  Bytes sum = 0;
  Bytes buffers = 0;
  for (const HeldStage& held : device.stages) {
    const StageCost& cost = at(costs.stages, held.stage);
    buffers = std::max(buffers, cost.comm_buffers);
    if (held.states) sum += cost.weights + cost.gradients + cost.optimizer;
  }
  return sum + buffers;
}

Bytes held_bytes(const OrderSummary& order, const StageCosts& costs, const HeldMoment& moment) {
  Bytes held = moment.running < 0 ? 0 : at(costs.stages, moment.running).workspace / order.pieces;
  for (const HeldMoment::Stage& one : moment.stages) {
    const StageCost& cost = at(costs.stages, one.stage);
    held +=
        one.activations * (cost.activation / order.pieces) + one.weight_grads * (cost.weight_grad_held / order.pieces);
  }
  return held;
}

}  // namespace

StepChains chains_of(const StepWork& step) {
  std::vector<Nanoseconds> chain(step.tasks.size(), 0);
  std::vector<std::vector<std::size_t>> next(step.tasks.size());
  for (std::size_t k = 0; k < step.tasks.size(); ++k) {
    for (const std::int32_t before : step.tasks[k].after) at(next, before).push_back(k);
  }
  StepChains result;
  for (std::size_t k = step.tasks.size(); k-- > 0;) {  // each task is after those it is after
    const StepTask& task = step.tasks[k];
    Nanoseconds rest = 0;
    for (const std::size_t later : next[k]) rest = std::max(rest, chain[later]);
    chain[k] = rest + task.duration;
    for (const StageName& name : task.after_stages) {
      Nanoseconds& longest = result[{name.replica, name.stage}];
      longest = std::max(longest, chain[k]);
    }
  }
  return result;
}

Nanoseconds step_bound(const OrderSummary& order, const StageCosts& costs, const StepWork& step, int microbatches) {
  return chained_step_bound(order, costs, chains_of(step), microbatches);
}

Nanoseconds chained_step_bound(const OrderSummary& order, const StageCosts& costs, const StepChains& chains,
                               int microbatches) {
  const Paths paths = paths_of(order, costs);
  Nanoseconds bound = 0;
  for (const DeviceSummary& device : order.by_device) {
    const Nanoseconds end = std::max(shortest(paths.drain, device.stages), shortest_chain(chains, device.stages));
    bound = std::max(bound, shortest(paths.fill, device.stages) + busy_time(order, costs, device, microbatches) + end);
  }
  return bound;
}

Nanoseconds walk_bound(const Schedule& schedule, const Program& program, const StageCosts& costs) {
  if (!schedule.copies.empty()) return 0;
  StageCosts times = costs;
  for (StageCost& stage : times.stages) {
    stage.output = 0;  // sizes would be walked for a peak that nobody asks for
    stage.workspace = 0;
  }
  return simulate_totals(program, times, Topology::ideal(0, 0)).makespan;
}

std::vector<Bytes> memory_bound(const OrderSummary& order, const StageCosts& costs) {
  std::vector<Bytes> bounds;
  for (const DeviceSummary& device : order.by_device) {
    Bytes most = 0;
    for (const HeldMoment& moment : device.moments) most = std::max(most, held_bytes(order, costs, moment));
    bounds.push_back(static_bytes(costs, device) + most);
  }
  return bounds;
}

Bytes missing_memory(const std::vector<Bytes>& bounds, const std::vector<Bytes>& capacities, Bytes free) {
  if (capacities.empty()) return 0;
  Bytes missing = 0;
  for (std::size_t d = 0; d < bounds.size(); ++d) {
    const Bytes capacity = capacities.size() == 1 ? capacities.front() : capacities[d];
    if (capacity > 0) missing = std::max(missing, bounds[d] + free - capacity);
  }
  return missing;
}

}  // namespace debubble
