// Memory of the reference simulator: one device at a time, its cells in running order.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "tests/support/reference_simulator.hpp"

namespace debubble::reference {
namespace {

struct Level {
  Bytes fixed = 0;     // weights, gradients, optimizer state
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
  for (int replica = 0; replica < schedule.placement.replicas(); ++replica) {
    for (int stage = 0; stage < schedule.stages; ++stage) {
      if (schedule.placement.device_of(replica, stage) != device) continue;
      const StageCost& cost = costs.stages.at(static_cast<std::size_t>(stage));
      sum += cost.weights + cost.gradients + cost.optimizer;
    }
  }
  return sum;
}

// Arrivals on a device in order of time, so that a prefix of them has been seen at any moment.
std::vector<Hop> arrivals_on(std::size_t device, const Outcome& outcome) {
  std::vector<Hop> arrivals;
  for (const Hop& hop : outcome.hops) {
    if (hop.to_device == device) arrivals.push_back(hop);
  }
  std::stable_sort(arrivals.begin(), arrivals.end(), [](const Hop& a, const Hop& b) { return a.end < b.end; });
  return arrivals;
}

class Walk {
 public:
  Walk(const Schedule& schedule, const StageCosts& costs, std::vector<Hop> arrivals, std::size_t cells, Level& level)
      : pieces_(schedule.pieces), costs_(costs), arrivals_(std::move(arrivals)), used_by_(cells, 0), level_(level) {
    for (const Hop& hop : arrivals_) used_by_[hop.to_cell] += hop.bytes;
  }

  void start(const Cell& cell) {
    while (next_ < arrivals_.size() && arrivals_[next_].end <= cell.begin) arrive();
    for (const Op& op : cell.members) {
      if (op.kind == OpKind::kForward) level_.kept += activation(op);
      level_.workspace += workspace(op);
    }
    level_.note();
  }

  void finish(const Cell& cell, std::size_t index) {
    while (next_ < arrivals_.size() && arrivals_[next_].end < cell.end) arrive();
    for (const Op& op : cell.members) {
      if (op.kind == OpKind::kBackward || op.kind == OpKind::kInputGrad) level_.kept -= activation(op);
      if (op.kind == OpKind::kWeightGrad) level_.kept -= held(op);
      level_.workspace -= workspace(op);
    }
    level_.received -= used_by_[index];
    for (const Op& op : cell.members) {
      if (op.kind == OpKind::kInputGrad) level_.kept += held(op);
    }
    level_.note();
  }

 private:
  void arrive() {
    level_.received += arrivals_[next_++].bytes;
    level_.note();
  }
  [[nodiscard]] const StageCost& cost(const Op& op) const {
    return costs_.stages.at(static_cast<std::size_t>(op.stage));
  }
  [[nodiscard]] Bytes activation(const Op& op) const { return piece_of(cost(op).activation, pieces_); }
  [[nodiscard]] Bytes held(const Op& op) const { return piece_of(cost(op).weight_grad_held, pieces_); }
  [[nodiscard]] Bytes workspace(const Op& op) const { return piece_of(cost(op).workspace, pieces_); }

  int pieces_;
  const StageCosts& costs_;
  std::vector<Hop> arrivals_;
  std::vector<Bytes> used_by_;  // index: cell
  std::size_t next_ = 0;
  Level& level_;
};

}  // namespace

void measure_memory(const Schedule& schedule, const StageCosts& costs, Outcome& outcome) {
  for (std::size_t d = 0; d < outcome.cells.size(); ++d) {
    Level level;
    level.fixed = fixed_on(static_cast<int>(d), schedule, costs);
    level.note();
    Walk walk(schedule, costs, arrivals_on(d, outcome), outcome.cells[d].size(), level);
    for (std::size_t c = 0; c < outcome.cells[d].size(); ++c) {
      walk.start(outcome.cells[d][c]);
      walk.finish(outcome.cells[d][c], c);
    }
    outcome.static_memory.push_back(level.fixed);
    outcome.peak_memory.push_back(level.peak_memory);
    outcome.peak_activation.push_back(level.peak_activation);
  }
}

}  // namespace debubble::reference
