// Memory of the reference simulator: one device at a time, every change that it sees, sorted.
#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/reference_simulator.hpp"

namespace debubble::reference {
namespace {

struct Level {
  Bytes fixed = 0;     // weights, gradients, optimizer state, buffers
  Bytes kept = 0;      // activations, and what is held from I to W
  Bytes received = 0;  // inputs that came from another device
  Bytes workspace = 0;
  Bytes peak_memory = 0;
  Bytes peak_activation = 0;

  void note() {
    peak_memory = std::max(peak_memory, fixed + kept + received + workspace);
    peak_activation = std::max(peak_activation, kept);
  }
};

Bytes fixed_on(int device, const Schedule& schedule, const StageCosts& costs) {
  Bytes sum = 0;
  Bytes buffers = 0;  // the device's stages take turns
  std::set<int> counted;
  for (int replica = 0; replica < schedule.placement.replicas(); ++replica) {
    for (int stage = 0; stage < schedule.stages; ++stage) {
      if (schedule.placement.device_of(replica, stage) != device) continue;
      if (schedule.replicas_share_weights && !counted.insert(stage).second) continue;
      const StageCost& cost = costs.stages.at(static_cast<std::size_t>(stage));
      sum += cost.weights + cost.gradients + cost.optimizer;
      buffers = std::max(buffers, cost.comm_buffers);
    }
  }
  return sum + buffers;
}

// One change of what a device holds. Within an instant: what ends, what copies release, what arrives or copies take,
// what begins; a cell that takes no time ends before the next one begins.
struct Change {
  enum class Phase { kEnds, kReleased, kTaken, kBegins };
  Nanoseconds at = 0;
  Phase phase = Phase::kEnds;
  std::size_t order = 0;  // of the device's cells
  Bytes kept = 0;
  Bytes received = 0;
  Bytes workspace = 0;
};

bool comes_first(const Change& a, const Change& b) {
  return std::tie(a.at, a.phase, a.order) < std::tie(b.at, b.phase, b.order);
}

class Events {
 public:
  Events(const Schedule& schedule, const StageCosts& costs, const Outcome& outcome)
      : schedule_(schedule), costs_(costs), outcome_(outcome) {
    for (const auto& row : schedule.rows) {
      for (const Op& op : row) {
        if (op.kind == OpKind::kRecompute) recomputed_.insert({op.stage, op.microbatch});
      }
    }
  }

  [[nodiscard]] std::vector<Change> on(std::size_t device) const {
    std::vector<Change> changes;
    for (std::size_t c = 0; c < outcome_.cells[device].size(); ++c) add_cell(device, c, changes);
    for (const Hop& hop : outcome_.hops) {
      if (hop.to_device == device) changes.push_back({hop.end, Change::Phase::kTaken, 0, 0, hop.bytes, 0});
    }
    for (std::size_t d = 0; d < outcome_.copies.size(); ++d) {
      for (const CopyRun& run : outcome_.copies[d]) {
        if (d == device) changes.push_back(at_home(run));
        if (run.copy.peer == static_cast<int>(device)) changes.push_back(at_keeper(run));
      }
    }
    std::sort(changes.begin(), changes.end(), comes_first);
    return changes;
  }

  // What the host keeps for the device.
  [[nodiscard]] std::vector<Change> on_host(std::size_t device) const {
    std::vector<Change> changes;
    if (outcome_.copies.empty()) return changes;
    for (const CopyRun& run : outcome_.copies[device]) {
      if (run.copy.peer < 0) changes.push_back(at_keeper(run));
    }
    std::sort(changes.begin(), changes.end(), comes_first);
    return changes;
  }

 private:
  void add_cell(std::size_t device, std::size_t c, std::vector<Change>& changes) const {
    const Cell& cell = outcome_.cells[device][c];
    Change begin{cell.begin, Change::Phase::kBegins, 2 * c};
    const bool takes_time = cell.end > cell.begin;
    Change end{cell.end, takes_time ? Change::Phase::kEnds : Change::Phase::kBegins, 2 * c + 1};
    for (const Op& op : cell.members) {
      begin.kept += taken_by(op);
      end.kept += left_by(op);
      if (op.kind == OpKind::kVocabularyLogits || op.kind == OpKind::kVocabularyGradient) continue;
      begin.workspace += part(cost(op).workspace, op);
    }
    end.workspace = -begin.workspace;
    for (const Hop& hop : outcome_.hops) {
      if (hop.to_device == device && hop.to_cell == c) end.received -= hop.bytes;
    }
    changes.push_back(begin);
    changes.push_back(end);
  }

  [[nodiscard]] Bytes taken_by(const Op& op) const {
    if (op.kind == OpKind::kVocabularyLogits) return part(costs_.vocabulary.value().held, op);
    if (op.kind == OpKind::kRecompute) return part(cost(op).activation, op);
    if (op.kind != OpKind::kForward) return 0;
    return part(recomputed_.contains({op.stage, op.microbatch}) ? cost(op).checkpoint : cost(op).activation, op);
  }

  // By how much what is kept changes with the op's end.
  [[nodiscard]] Bytes left_by(const Op& op) const {
    if (op.kind == OpKind::kVocabularyGradient) return -part(costs_.vocabulary.value().held, op);
    if (op.kind == OpKind::kWeightGrad) return -part(cost(op).weight_grad_held, op);
    if (op.kind != OpKind::kBackward && op.kind != OpKind::kInputGrad) return 0;
    Bytes change = -part(cost(op).activation, op);
    if (recomputed_.contains({op.stage, op.microbatch})) change -= part(cost(op).checkpoint, op);
    return op.kind == OpKind::kInputGrad ? change + part(cost(op).weight_grad_held, op) : change;
  }

  // The device is rid of it when the copy out has ended, and has it from the begin of the copy back.
  [[nodiscard]] static Change at_home(const CopyRun& run) {
    const bool out = run.copy.way == Copy::Way::kOut;
    return {out ? run.end : run.begin,
            out ? Change::Phase::kReleased : Change::Phase::kTaken,
            0,
            out ? -run.bytes : run.bytes,
            0,
            0};
  }
  [[nodiscard]] static Change at_keeper(const CopyRun& run) {
    const bool out = run.copy.way == Copy::Way::kOut;
    return {out ? run.begin : run.end,
            out ? Change::Phase::kTaken : Change::Phase::kReleased,
            0,
            out ? run.bytes : -run.bytes,
            0,
            0};
  }

  [[nodiscard]] const StageCost& cost(const Op& op) const {
    return costs_.stages.at(static_cast<std::size_t>(op.stage));
  }
  [[nodiscard]] Bytes part(Bytes value, const Op& op) const { return part_of(value, op.microbatch, schedule_); }

  const Schedule& schedule_;
  const StageCosts& costs_;
  const Outcome& outcome_;
  std::set<std::pair<int, int>> recomputed_;  // (stage, piece)
};

void follow(const std::vector<Change>& changes, Level& level) {
  level.note();
  for (const Change& change : changes) {
    level.kept += change.kept;
    level.received += change.received;
    level.workspace += change.workspace;
    level.note();
  }
}

}  // namespace

void measure_memory(const Schedule& schedule, const StageCosts& costs, Outcome& outcome) {
  const Events events(schedule, costs, outcome);
  for (std::size_t d = 0; d < outcome.cells.size(); ++d) {
    Level level;
    level.fixed = fixed_on(static_cast<int>(d), schedule, costs);
    follow(events.on(d), level);
    outcome.static_memory.push_back(level.fixed);
    outcome.peak_memory.push_back(level.peak_memory);
    outcome.peak_activation.push_back(level.peak_activation);
    Level host;
    follow(events.on_host(d), host);
    outcome.peak_host.push_back(host.peak_activation);
  }
}

}  // namespace debubble::reference
