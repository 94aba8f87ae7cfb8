#include "live/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "sim/core/at.hpp"
#include "sim/rows/joined_exchanges.hpp"
#include "sim/rows/op_index.hpp"
#include "sim/rows/transfer_order.hpp"

namespace debubble::live {

namespace {

std::int32_t device_of(const Schedule& schedule, std::int32_t stage, std::int32_t piece) {
  return schedule.placement.device_of(at(schedule.replica_of, piece), stage);
}

std::int32_t cell_size(const std::vector<Op>& row, std::int32_t position) {
  return at(row, position).paired_with_next && to_index(position) + 1 < row.size() ? 2 : 1;
}

// Appends the hops of one op's input, or of its output, if it travels.
void add_receive(const Schedule& schedule, std::int32_t device, const Op& op, std::vector<Hop>& hops) {
  Tensor tensor;
  if (!input_of(schedule, op, tensor)) return;
  if (const std::int32_t peer = maker(schedule, tensor); peer != device) hops.push_back({tensor, peer});
}
void add_send(const Schedule& schedule, std::int32_t device, const Op& op, std::vector<Hop>& hops) {
  Tensor tensor;
  if (!output_of(schedule, op, tensor)) return;
  if (const std::int32_t peer = user(schedule, tensor); peer != device) hops.push_back({tensor, peer});
}

void add(std::vector<Hop>& hops, const std::vector<Hop>& more) { hops.insert(hops.end(), more.begin(), more.end()); }

// The cell at a position, with all that it receives and sends.
Action cell(const Schedule& schedule, std::int32_t device, std::int32_t position) {
  const auto& row = at(schedule.rows, device);
  Action action{Action::Kind::kCompute, position, {}, {}};
  for (std::int32_t k = position; k < position + cell_size(row, position); ++k) {
    add_receive(schedule, device, at(row, k), action.receives);
    add_send(schedule, device, at(row, k), action.sends);
  }
  return action;
}

std::vector<Action> cells(const Schedule& schedule, std::int32_t device) {
  std::vector<Action> actions;
  const auto& row = at(schedule.rows, device);
  const auto size = static_cast<std::int32_t>(row.size());
  for (std::int32_t k = 0; k < size; k += cell_size(row, k)) actions.push_back(cell(schedule, device, k));
  return actions;
}

// The sends of one slot and what is received before the next become one action between them.
class CoupledPlan {
 public:
  explicit CoupledPlan(const Schedule& schedule)
      : schedule_(schedule), ops_(schedule), slots_(schedule), received_(coupled_receives(ops_, slots_)) {}

  [[nodiscard]] std::vector<Action> of(std::int32_t device) const {
    const auto& row = at(schedule_.rows, device);
    const auto size = static_cast<std::int32_t>(row.size());
    const std::int32_t first = ops_.row_begin(device);
    const std::int32_t apart = at(received_.apart, device);
    std::vector<Action> actions;
    Action exchange{Action::Kind::kExchange, -1, {}, {}};
    const auto flush = [&] {
      if (!exchange.sends.empty() || !exchange.receives.empty()) actions.push_back(exchange);
      exchange = {Action::Kind::kExchange, exchange.position, {}, {}};
    };
    for (std::int32_t begin = 0; begin < size;) {
      const auto end = static_cast<std::int32_t>(slots_.end(to_index(device), to_index(begin)));
      for (const std::int32_t user : received_.users(first + begin, first + end)) {
        if (user != apart) add_receive(schedule_, device, ops_.op(user), exchange.receives);
      }
      flush();
      if (first + begin <= apart && apart < first + end) {
        add_receive(schedule_, device, ops_.op(apart), exchange.receives);
        flush();
      }
      for (; begin < end; begin += cell_size(row, begin)) {
        add(exchange.sends, cell(schedule_, device, begin).sends);
        actions.push_back({Action::Kind::kCompute, begin, {}, {}});
        exchange.position = begin;
      }
    }
    flush();
    return actions;
  }

 private:
  const Schedule& schedule_;
  OpIndex ops_;
  ExchangeSlots slots_;
  CoupledReceives received_;
};

// Blocking: transfers one by one, where transfer_order puts them.
class BlockingPlan {
 public:
  explicit BlockingPlan(const Schedule& schedule)
      : schedule_(schedule), ops_(schedule), devices_(schedule.rows.size()), last_(schedule.rows.size(), -1) {}

  std::vector<std::vector<Action>> run() {
    std::vector<bool> is_sent(to_index(ops_.size()), false);
    for (const Placed& placed : transfer_order(ops_, P2p::kBlocking)) {
      if (placed.transfer) {
        add_transfer(placed.op);
        at(is_sent, placed.op) = true;
      } else {
        add_cell(ops_.device(placed.op), ops_.position(placed.op));
      }
    }
    for (std::int32_t device = 0; device < ops_.rows(); ++device) add_unreachable(device, is_sent);
    return std::move(devices_);
  }

 private:
  void add_cell(std::int32_t device, std::int32_t position) {
    at(devices_, device).push_back({Action::Kind::kCompute, position, {}, {}});
    at(last_, device) = position;
  }

  void add_transfer(std::int32_t op) {
    Tensor tensor;
    (void)output_of(schedule_, ops_.op(op), tensor);
    const std::int32_t from = ops_.device(op);
    const std::int32_t to = user(schedule_, tensor);
    at(devices_, from).push_back({Action::Kind::kSend, at(last_, from), {{tensor, to}}, {}});
    at(devices_, to).push_back({Action::Kind::kReceive, at(last_, to), {}, {{tensor, from}}});
  }

  // After a deadlock transfer_order places nothing. Such a schedule is still run, to show where it gets stuck: the rest
  // of the row follows cell by cell, and the device blocks at the first one that lacks an input.
  void add_unreachable(std::int32_t device, const std::vector<bool>& is_sent) {
    const auto& row = at(schedule_.rows, device);
    const auto size = static_cast<std::int32_t>(row.size());
    std::int32_t position = at(last_, device) < 0 ? 0 : at(last_, device) + cell_size(row, at(last_, device));
    for (; position < size; position += cell_size(row, position)) {
      const Action whole = cell(schedule_, device, position);
      for (const Hop& hop : whole.receives) {
        if (at(is_sent, op_that_makes(hop.tensor))) continue;
        at(devices_, device).push_back({Action::Kind::kReceive, at(last_, device), {}, {hop}});
      }
      add_cell(device, position);
      for (const Hop& hop : whole.sends) at(devices_, device).push_back({Action::Kind::kSend, position, {hop}, {}});
    }
  }

  [[nodiscard]] std::int32_t op_that_makes(const Tensor& tensor) const {
    if (!tensor.gradient) return ops_.find(OpKind::kForward, tensor.stage, tensor.piece);
    const std::int32_t whole = ops_.find(OpKind::kBackward, tensor.stage + 1, tensor.piece);
    return whole >= 0 ? whole : ops_.find(OpKind::kInputGrad, tensor.stage + 1, tensor.piece);
  }

  const Schedule& schedule_;
  OpIndex ops_;
  std::vector<std::vector<Action>> devices_;
  std::vector<std::int32_t> last_;  // by device: position of the last cell placed, -1 before the first
};

}  // namespace

std::string to_string(const Tensor& tensor) {
  const std::int32_t stage = tensor.gradient ? tensor.stage + 1 : tensor.stage;
  return (tensor.gradient ? "the gradient " : "the activation ") +
         debubble::to_string(Op{tensor.gradient ? OpKind::kBackward : OpKind::kForward, false, stage, tensor.piece});
}

bool input_of(const Schedule& schedule, const Op& op, Tensor& tensor) {
  if (!is_pipelined(op.kind)) return false;
  const bool gradient = op.kind != OpKind::kForward;
  tensor = {gradient, gradient ? op.stage : op.stage - 1, op.microbatch};
  return gradient ? op.stage + 1 < schedule.stages : op.stage > 0;
}

bool output_of(const Schedule& schedule, const Op& op, Tensor& tensor) {
  if (!is_pipelined(op.kind)) return false;
  const bool gradient = op.kind != OpKind::kForward;
  tensor = {gradient, gradient ? op.stage - 1 : op.stage, op.microbatch};
  return gradient ? op.stage > 0 : op.stage + 1 < schedule.stages;
}

std::int32_t maker(const Schedule& schedule, const Tensor& tensor) {
  return device_of(schedule, tensor.gradient ? tensor.stage + 1 : tensor.stage, tensor.piece);
}

std::int32_t user(const Schedule& schedule, const Tensor& tensor) {
  return device_of(schedule, tensor.gradient ? tensor.stage : tensor.stage + 1, tensor.piece);
}

Plan make_plan(const Schedule& schedule, P2p p2p) {
  Plan plan{p2p, {}};
  if (p2p == P2p::kBlocking) {
    plan.devices = BlockingPlan(schedule).run();
    return plan;
  }
  std::optional<CoupledPlan> exchanges;
  if (p2p == P2p::kCoupled) exchanges.emplace(schedule);
  for (std::int32_t device = 0; device < schedule.devices; ++device) {
    plan.devices.push_back(exchanges ? exchanges->of(device) : cells(schedule, device));
  }
  return plan;
}

}  // namespace debubble::live
