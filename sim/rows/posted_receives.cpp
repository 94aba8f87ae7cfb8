// Steps: count the turns before each cell; then sweep over the devices, one turn each, until no device moves. Only
// devices that may move are looked at: after a turn of its own in the next sweep, after the op that it waits for in
// this one where its turn is still to come. Invariant: a cell is placed after all it needs, and the receive of what it
// makes is placed in the same turn, so the receiver's next cell at that moment is the one before which it is posted. A
// sweep without a move is the end or a deadlock, for nothing but a cell's turn makes another cell ready.
#include "sim/rows/posted_receives.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/rows/gathered_stages.hpp"
#include "sim/rows/joined_exchanges.hpp"

namespace debubble {

namespace {

// By id: the first op of its cell.
std::vector<std::int32_t> own_cells(const OpIndex& ops) {
  std::vector<std::int32_t> first(to_index(ops.size()));
  for (std::int32_t id = 0; id < ops.size();) {
    const std::int32_t begin = id;
    for (const std::int32_t end = ops.cell_end(begin); id < end; ++id) first[to_index(id)] = begin;
  }
  return first;
}

class Turns {
 public:
  explicit Turns(const OpIndex& ops)
      : ops_(ops),
        arrived_(to_index(ops.size()), false),
        posted_(own_cells(ops)),
        waits_for_(to_index(ops.rows()), -1) {
    for (std::int32_t device = 0; device < ops.rows(); ++device) rows_.push_back(row_of(device));
  }

  std::vector<std::int32_t> run() {
    for (std::int32_t device = 0; device < ops_.rows(); ++device) next_.push_back(device);
    while (!next_.empty()) {
      sweep_ = Sweep(std::greater<>(), std::exchange(next_, {}));
      while (!sweep_.empty()) {
        const std::int32_t device = sweep_.top();
        sweep_.pop();
        if (take_turn(device)) next_.push_back(device);
      }
    }
    return std::move(posted_);
  }

 private:
  struct Row {
    std::vector<std::int32_t> cells;        // ids of their first ops, then the id after the last
    std::vector<std::int32_t> other_turns;  // by cell: turns between the cell before and this one
    std::size_t next = 0;

    [[nodiscard]] bool ended() const { return next + 1 >= cells.size(); }
  };

  [[nodiscard]] Row row_of(std::int32_t device) const {
    Row row;
    std::vector<CellStages> stages;
    const std::int32_t end = ops_.row_begin(device + 1);
    for (std::int32_t id = ops_.row_begin(device); id < end; id = ops_.cell_end(id)) {
      row.cells.push_back(id);
      CellStages& cell = stages.emplace_back();
      for (std::int32_t member = id; member < ops_.cell_end(id); ++member) {
        at(cell.stages, cell.count++) = ops_.op(member).stage;
      }
    }
    row.cells.push_back(end);
    row.other_turns = sums_before(row);
    const std::vector<GatheredStages> gathered = gathered_stages(stages);
    for (std::size_t k = 0; k < gathered.size(); ++k) {
      row.other_turns[k] += differences(k == 0 ? GatheredStages{} : gathered[k - 1], gathered[k]);
    }
    return row;
  }

  // Stages given back and stages gathered.
  static std::int32_t differences(const GatheredStages& before, const GatheredStages& now) {
    const auto others = [](const GatheredStages& of, const GatheredStages& than) {
      return std::count_if(of.begin(), of.end(), [&](std::int32_t stage) { return !than.has(stage); });
    };
    return static_cast<std::int32_t>(others(before, now) + others(now, before));
  }

  // Once the last microbatch of a stage has its weight gradient: a turn to sum them over the replicas, one to wait.
  [[nodiscard]] std::vector<std::int32_t> sums_before(const Row& row) const {
    std::vector<std::int32_t> turns(row.cells.size(), 0);
    std::map<std::int32_t, int> done;  // by stage
    for (std::size_t k = 0; k + 1 < row.cells.size(); ++k) {
      for (std::int32_t id = row.cells[k]; id < row.cells[k + 1]; ++id) {
        const Op& op = ops_.op(id);
        if (!makes_weight_gradient(op.kind) || ++done[op.stage] != ops_.schedule().total_pieces()) continue;
        turns[k + 1] += 2;
      }
    }
    return turns;
  }

  bool take_turn(std::int32_t device) {
    Row& row = at(rows_, device);
    if (row.ended()) return false;
    if (row.other_turns[row.next] > 0) {
      --row.other_turns[row.next];
      return true;
    }
    const std::int32_t begin = row.cells[row.next];
    const std::int32_t end = row.cells[row.next + 1];
    for (std::int32_t id = begin; id < end; ++id) {
      if (arrived_[to_index(id)] || !takes_input(ops_.op(id))) continue;
      at(waits_for_, device) = id;
      return false;
    }
    ++row.next;
    for (std::int32_t id = begin; id < end; ++id) post(ops_.user(ops_.op(id)), device);
    return true;
  }

  [[nodiscard]] bool takes_input(const Op& op) const {
    return is_pipelined(op.kind) && source_stage(op.kind, op.stage, ops_.schedule().stages) >= 0;
  }

  void post(std::int32_t user, std::int32_t maker) {
    if (user < 0) return;
    arrived_[to_index(user)] = true;
    if (ops_.device(user) == maker) return;
    const std::int32_t receiver = ops_.device(user);
    const Row& row = at(rows_, receiver);
    at(posted_, user) = row.cells[row.next];
    if (at(waits_for_, receiver) != user) return;
    at(waits_for_, receiver) = -1;
    if (receiver > maker) {
      sweep_.push(receiver);
    } else {
      next_.push_back(receiver);
    }
  }

  using Sweep = std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>>;

  const OpIndex& ops_;
  std::vector<bool> arrived_;            // by op: whether its input is there
  std::vector<std::int32_t> posted_;     // by op
  std::vector<Row> rows_;                // by device
  std::vector<std::int32_t> waits_for_;  // by device: the op without which its next cell cannot be placed; -1: none
  Sweep sweep_;                          // devices whose turn is still to come
  std::vector<std::int32_t> next_;       // of the next sweep
};

}  // namespace

std::vector<std::int32_t> posted_receives(const OpIndex& ops) {
  const Schedule& schedule = ops.schedule();
  if (schedule.receives.empty()) return Turns(ops).run();
  std::vector<std::int32_t> posted;
  for (std::int32_t device = 0; device < ops.rows(); ++device) {
    for (const std::int32_t position : at(schedule.receives, device)) {
      posted.push_back(ops.row_begin(device) + position);
    }
  }
  return posted;
}

Posting posting_of(const OpIndex& ops, P2p p2p) {
  if (p2p == P2p::kLate) return {posted_receives(ops), {}};
  if (ops.rows() < 2) return {own_cells(ops), {}};  // nothing travels
  std::optional<Posting> joined = joined_exchanges(ops);
  if (joined) return std::move(*joined);
  throw InputError(Diagnostic{"X013", ops.schedule().name,
                              "joined exchanges are those of Megatron-LM's interleaved 1F1B: several stages of a loop "
                              "per device, as many forwards as backwards",
                              "simulate this schedule with --p2p coupled or overlapped"});
}

SpanPosting span_posting(const OpIndex& ops, P2p p2p, const Timeline& timeline) {
  const Posting posting = posting_of(ops, p2p);
  const auto id = [&](const Op& op) { return ops.find(op.kind, op.stage, op.microbatch); };
  std::vector<std::int32_t> span_of(to_index(ops.size()), -1);
  for (std::size_t k = 0; k < timeline.spans.size(); ++k) {
    at(span_of, id(timeline.spans[k].op)) = static_cast<std::int32_t>(k);
    const Op* const partner = timeline.partner(timeline.spans[k]);
    if (partner != nullptr) at(span_of, id(*partner)) = static_cast<std::int32_t>(k);
  }
  SpanPosting found;
  std::vector<std::int32_t> transfer_of(to_index(ops.size()), -1);  // by maker
  for (const Transfer& transfer : timeline.transfers) {
    if (const std::int32_t maker = id(transfer.op); maker >= 0) {
      at(transfer_of, maker) = static_cast<std::int32_t>(found.in_front.size());
    }
    const std::int32_t user = ops.user(transfer.op);
    const std::int32_t before = user < 0 ? -1 : at(posting.posted, user) - 1;
    found.in_front.push_back(user < 0 || before < ops.row_begin(ops.device(user)) ? -1 : at(span_of, before));
  }
  for (std::size_t op = 0; op < posting.awaited.size(); ++op) {
    for (const std::int32_t maker : posting.awaited[op]) {
      const std::int32_t transfer = at(transfer_of, maker);
      if (span_of[op] >= 0 && transfer >= 0) found.awaited.emplace_back(span_of[op], transfer);
    }
  }
  return found;
}

}  // namespace debubble
