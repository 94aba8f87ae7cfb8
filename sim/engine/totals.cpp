// simulate_totals and steady_period: the walk without spans.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/engine/tables.hpp"
#include "sim/engine/walk.hpp"

namespace debubble {

namespace {

// A change of a device's memory that does not follow its compute lane.
struct TotalsEvent {
  Nanoseconds at = 0;
  Bytes change = 0;
  bool activation = false;  // it counts among the activations, too
};

// Peak memory where received tensors, workspace and copies count. They do not follow the lane alone: a tensor may
// arrive while earlier cells run, so such events are sorted per device and merged with the device's cells. Within one
// instant: earlier cells' ends, what copies release, what arrives or copies take, the next begin.
class MemoryPass {
 public:
  MemoryPass(const Program& program, const Tables& tables, const Walk& walk)
      : program_(program),
        tables_(tables),
        walk_(walk),
        devices_(static_cast<std::size_t>(program.devices)),
        hosts_(program.copies.empty() ? 0 : devices_.size()) {}

  void run(std::vector<DeviceTotals>& totals) {
    collect_events();
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      devices_[d].level = devices_[d].peak = tables_.static_bytes[d];
    }
    auto extra = program_.extra_inputs.begin();
    for (std::size_t k = 0; k < program_.nodes.size(); ++k) {
      const Program::Node& node = program_.nodes[k];
      if (node.is_transfer()) continue;
      Bytes received = bytes_of(node.input, program_.cells[node.cell()].input_channel);
      for (; extra != program_.extra_inputs.end() && to_index(extra->node) <= k; ++extra) {
        const bool arrives = extra->wait == Wait::kArrival && to_index(extra->node) == k;
        if (arrives) received += bytes_of(extra->input, extra->what);
      }
      if (!program_.cells[node.cell()].is_copy) run_cell(node, walk_.end(static_cast<std::int32_t>(k)), received);
    }
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      devices_[d].run_rest();
      totals[d].peak_memory = devices_[d].peak;
      if (hosts_.empty()) continue;
      totals[d].peak_activation = devices_[d].peak_activation;
      hosts_[d].run_rest();
      totals[d].peak_host = hosts_[d].peak;
    }
  }

 private:
  using Wait = Program::ExtraInput::Wait;

  struct Memory {
    std::vector<TotalsEvent> events;
    std::size_t next = 0;
    Bytes level = 0;
    Bytes peak = 0;
    Bytes activation = 0;
    Bytes peak_activation = 0;

    void change(Bytes by, Bytes activation_by) {
      level += by;
      peak = std::max(peak, level);
      activation += activation_by;
      peak_activation = std::max(peak_activation, activation);
    }
    void run_next() {
      const TotalsEvent& event = events[next++];
      change(event.change, event.activation ? event.change : 0);
    }
    void run_rest() {
      while (next < events.size()) run_next();
    }
  };

  // Where transfers are nodes the input is the transfer itself, and that says what it carries.
  [[nodiscard]] Bytes bytes_of(std::int32_t input, std::int32_t channel) const {
    if (input < 0) return 0;
    const Program::Node& node = program_.nodes[to_index(input)];
    return tables_.channel_bytes[node.is_transfer() ? node.channel() : static_cast<std::size_t>(channel)];
  }

  void collect_events() {
    for (const Program::Node& node : program_.nodes) {
      if (node.is_transfer() || node.input < 0) continue;
      const Program::Cell& cell = program_.cells[node.cell()];
      add_arrival(cell.device, node.input, cell.input_channel);
    }
    for (const auto& extra : program_.extra_inputs) {
      if (extra.wait != Wait::kArrival) continue;
      const Program::Node& node = program_.nodes[to_index(extra.node)];
      add_arrival(program_.device_of(node), extra.input, extra.what);
    }
    for (const Program::CopyNode& copy : program_.copies) add_copy(copy);
    for (auto* memories : {&devices_, &hosts_}) {
      for (Memory& memory : *memories) {
        std::sort(memory.events.begin(), memory.events.end(), [](const TotalsEvent& a, const TotalsEvent& b) {
          return a.at != b.at ? a.at < b.at : (a.change < 0) > (b.change < 0);
        });
      }
    }
  }

  void add_arrival(std::int32_t device, std::int32_t input, std::int32_t channel) {
    devices_[to_index(device)].events.push_back({walk_.arrival(input, channel), bytes_of(input, channel), false});
  }

  // Whoever keeps the activation holds it from the copy's begin to the end of the copy back.
  void add_copy(const Program::CopyNode& copy) {
    const auto device = static_cast<std::size_t>(copy.device);
    const Program::Cell& cell = program_.cells[program_.nodes[to_index(copy.node)].cell()];
    const Bytes moved = tables_.cells[program_.nodes[to_index(copy.node)].cell()].moved;
    const Nanoseconds end = walk_.end(copy.node);
    const Nanoseconds begin = walk_.begin(copy.node);
    const bool leaves = cell.way == Copy::Way::kOut;
    devices_[device].events.push_back({leaves ? end : begin, leaves ? -moved : moved, true});
    Memory& keeper = copy.peer < 0 ? hosts_[device] : devices_[to_index(copy.peer)];
    keeper.events.push_back({leaves ? begin : end, leaves ? moved : -moved, true});
  }

  // At equal times: what has happened by a cell's begin counts before it allocates; what happens by its very end counts
  // after it has released.
  void run_cell(const Program::Node& node, Nanoseconds end, Bytes received) {
    const CellCost& cost = tables_.cells[node.cell()];
    Memory& device = devices_[to_index(cost.device)];
    const Nanoseconds begin = end - cost.duration;
    const auto pending = [&] { return device.next < device.events.size(); };
    while (pending() && device.events[device.next].at <= begin) device.run_next();
    device.change(cost.at_begin + cost.workspace, cost.at_begin);
    while (pending() && device.events[device.next].at < end) device.run_next();
    device.change(cost.at_end - cost.workspace - received, cost.at_end);
  }

  const Program& program_;
  const Tables& tables_;
  const Walk& walk_;
  std::vector<Memory> devices_;
  std::vector<Memory> hosts_;  // by the device whose activations they keep; empty without copies
};

std::vector<DeviceTotals> lane_totals(const Program& program, const Tables& tables, Walk& walk) {
  std::vector<DeviceTotals> totals(static_cast<std::size_t>(program.devices));
  for (std::size_t d = 0; d < totals.size(); ++d) {
    const Lane& lane = walk.lanes()[d];
    totals[d].first_begin = std::max<Nanoseconds>(lane.first_begin, 0);  // -1: nothing ran here
    totals[d].last_end = lane.posted;
    totals[d].busy = lane.busy;
    totals[d].peak_activation = std::max(lane.peak_activation, lane.activation);
    totals[d].peak_memory = tables.static_bytes[d] + totals[d].peak_activation;
  }
  return totals;
}

// Lanes keep their state: the next iteration starts where this one left each device.
std::vector<Nanoseconds> next_lane_ends(Walk& walk) {
  NoRecorder no_recorder;
  walk.run(no_recorder);
  std::vector<Nanoseconds> ends;
  for (const Lane& lane : walk.lanes()) {
    if (lane.first_begin >= 0) ends.insert(ends.end(), {lane.free, lane.posted});  // one without work never moves
  }
  return ends;
}

Totals run_totals(const Program& program, const Tables& tables) {
  Walk walk(program, tables, tables.has_arrivals_or_workspace ? Ends::kAll : Ends::kInReach);
  NoRecorder no_recorder;
  walk.run(no_recorder);
  Totals result;
  result.devices = lane_totals(program, tables, walk);
  if (tables.has_arrivals_or_workspace) MemoryPass(program, tables, walk).run(result.devices);
  for (const DeviceTotals& device : result.devices) {
    result.makespan = std::max(result.makespan, device.last_end);
    result.span = std::max(result.span, device.last_end - device.first_begin);
  }
  check_device_time(result.makespan, program.devices);
  return result;
}

}  // namespace

Totals simulate_totals(const Program& program, const StageCosts& costs, const Topology& topology) {
  return run_totals(program, make_tables(program, costs, topology));
}

Totals simulate_totals(const Program& program, const StageCosts& costs, const TransferTimes& transfers) {
  return run_totals(program, make_tables(program, costs, transfers));
}

Nanoseconds steady_period(const Program& program, const StageCosts& costs, const Topology& topology,
                          int max_iterations) {
  const Tables tables = make_tables(program, costs, topology);
  Walk walk(program, tables, Ends::kInReach);
  std::vector<std::vector<Nanoseconds>> lane_ends;  // by iteration
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    std::vector<Nanoseconds> now = next_lane_ends(walk);
    // The pattern repeats when every lane has moved on by the same time since some earlier iteration.
    for (std::size_t back = lane_ends.size(); back-- > 0;) {
      const Nanoseconds moved = now[0] - lane_ends[back][0];
      bool same = true;
      for (std::size_t d = 1; d < now.size() && same; ++d) same = now[d] - lane_ends[back][d] == moved;
      const auto iterations = static_cast<Nanoseconds>(lane_ends.size() - back);
      if (same) return (moved + iterations / 2) / iterations;
    }
    const Nanoseconds latest_end = *std::max_element(now.begin(), now.end());
    lane_ends.push_back(std::move(now));
    if (latest_end > std::numeric_limits<Nanoseconds>::max() / 4) break;  // the next iteration might not fit 64 bits
  }
  const std::size_t last = lane_ends.size() - 1;
  const std::size_t half = last / 2;
  const auto latest = [](const std::vector<Nanoseconds>& ends) { return *std::max_element(ends.begin(), ends.end()); };
  if (last == half) return latest(lane_ends[last]);
  return (latest(lane_ends[last]) - latest(lane_ends[half])) / static_cast<Nanoseconds>(last - half);
}

}  // namespace debubble
