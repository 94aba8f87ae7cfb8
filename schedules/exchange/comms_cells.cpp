// The part of the comms check that looks at cells one by one. It goes by microbatch and stage, so that missing
// transfers come out in the order of the data.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "schedules/exchange/comms_check.hpp"

#include "sim/core/at.hpp"

namespace debubble {
namespace {

class CellsCheck {
 public:
  CellsCheck(const ActionTable& table, const std::vector<std::int32_t>& device_of, std::int32_t microbatches)
      : table_(table),
        device_of_(device_of),
        stages_(static_cast<std::int32_t>(device_of.size())),
        microbatches_(microbatches),
        places_(device_of.size() * static_cast<std::size_t>(microbatches)) {
    for (Places& places : places_) places.fill(-1);
  }

  CommsCells run() {
    for (std::size_t row = 0; row < table_.size(); ++row) {
      for (std::size_t cell = 0; cell < table_[row].size(); ++cell) {
        for (const Action& action : table_[row][cell]) {
          note_place(row, cell, action);
          waits_ = waits_ || is_wait(action.kind);
        }
      }
    }
    for (std::int32_t microbatch = 0; microbatch < microbatches_; ++microbatch) {
      for (std::int32_t stage = 0; stage + 1 < stages_; ++stage) {
        add_message(microbatch, stage, stage + 1, true);
        add_message(microbatch, stage + 1, stage, false);
      }
    }
    for (std::size_t row = 0; row < table_.size(); ++row) {
      check_weights(row);
      if (waits_) check_reductions(row);
    }
    return std::move(result_);
  }

 private:
  using Places = std::array<std::int32_t, kActionKinds>;  // by ActionKind: the cell in the stage's row, or -1

  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] Places& places(std::int32_t stage, std::int32_t microbatch) {
    return places_[at(stage) * at(microbatches_) + at(microbatch)];
  }
  [[nodiscard]] std::int32_t place(const Action& action) {
    return places(action.stage, action.microbatch)[to_index(action.kind)];
  }

  void report(std::int64_t row, std::int64_t cell, std::string code, std::string message, std::string help) {
    result_.problems.push_back({row, cell, std::move(code), std::move(message), std::move(help)});
  }

  void note_place(std::size_t row, std::size_t cell, const Action& action) {
    const auto r = static_cast<std::int64_t>(row);
    const auto c = static_cast<std::int64_t>(cell);
    const std::string name = to_string(action);
    if (action.stage >= stages_ || action.microbatch >= microbatches_) {
      const bool stage = action.stage >= stages_;
      report(r, c, "T040", name + " names a " + (stage ? "stage" : "microbatch") + " that computes nothing",
             std::string(stage ? "stages" : "microbatches") + " run from 0 to " +
                 std::to_string((stage ? stages_ : microbatches_) - 1));
      return;
    }
    const std::int32_t home = device_of_[at(action.stage)];
    if (home != r) {
      if (is_compute(action.kind)) return;  // the compute check has said so
      report(r, c, "T008",
             name + " is in row " + std::to_string(row + 1) + ", and stage " + std::to_string(action.stage) +
                 " computes in row " + std::to_string(home + 1),
             "a transfer or collective must be in the row of the stage it names");
      return;
    }
    if (!has_microbatch(action.kind)) return;
    const bool once = !is_compute(action.kind);
    if (once && !check_neighbour(r, c, action)) return;
    std::int32_t& known = places(action.stage, action.microbatch)[to_index(action.kind)];
    if (known >= 0 && once) {
      report(r, c, "T003", name + " is in the table twice (first in cell " + std::to_string(known + 1) + ")",
             "every transfer happens once");
      return;
    }
    if (known < 0) known = static_cast<std::int32_t>(cell);
  }

  bool check_neighbour(std::int64_t row, std::int64_t cell, const Action& action) {
    const bool up = action.kind == ActionKind::kSendForward || action.kind == ActionKind::kReceiveBackward ||
                    action.kind == ActionKind::kWaitSendForward;
    const std::int32_t other = up ? action.stage + 1 : action.stage - 1;
    if (other < 0 || other >= stages_) {
      report(row, cell, "T045", to_string(action) + " has no stage at its other end",
             up ? "the last stage sends no outputs and receives no gradients"
                : "the first stage receives no inputs and sends no gradients");
      return false;
    }
    if (device_of_[at(other)] != device_of_[at(action.stage)]) return true;
    report(row, cell, "T045",
           to_string(action) + " would go to the same device: stages " + std::to_string(action.stage) + " and " +
               std::to_string(other) + " share one",
           "stages of one device hand tensors over without a transfer");
    return false;
  }

  // The hand-over from one stage's compute to a neighbour's.
  void add_message(std::int32_t microbatch, std::int32_t from, std::int32_t to, bool forward) {
    if (device_of_[at(from)] == device_of_[at(to)]) return;
    CommsMessage message;
    message.send = {forward ? ActionKind::kSendForward : ActionKind::kSendBackward, from, microbatch};
    message.receive = {forward ? ActionKind::kReceiveForward : ActionKind::kReceiveBackward, to, microbatch};
    message.from = device_of_[at(from)];
    message.to = device_of_[at(to)];
    message.sent_at = place(message.send);
    message.received_at = place(message.receive);
    check_present(message);
    check_side(message.send, message.sent_at, compute(from, microbatch, forward), true);
    check_side(message.receive, message.received_at, compute(to, microbatch, forward), false);
    const Action wait{forward ? ActionKind::kWaitSendForward : ActionKind::kWaitSendBackward, from, microbatch};
    message.waited_at = place(wait);
    if (waits_) check_wait(wait, message);
    result_.messages.push_back(message);
  }

  // The stage's forward, or the op that makes its input gradient, and its cell.
  std::pair<Action, std::int32_t> compute(std::int32_t stage, std::int32_t microbatch, bool forward) {
    for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward, ActionKind::kInputGrad}) {
      const Action action{kind, stage, microbatch};
      if ((kind == ActionKind::kForward) == forward && place(action) >= 0) return {action, place(action)};
    }
    return {{}, -1};
  }

  void check_present(const CommsMessage& message) {
    if (message.sent_at < 0) {
      report(message.from, -1, "T045",
             to_string(message.send) + " is missing" +
                 (message.received_at < 0 ? ", and so is " + to_string(message.receive)
                                          : ", and " + to_string(message.receive) + " waits for it"),
             "a hand-over between devices needs both; a table without any is a compute_only table");
    } else if (message.received_at < 0) {
      report(message.to, -1, "T045",
             to_string(message.receive) + " is missing, and " + to_string(message.send) + " is for it",
             "a hand-over between devices needs both");
    }
  }

  // A table that has waits has one for each send.
  void check_wait(const Action& wait, const CommsMessage& message) {
    if (message.waited_at < 0 && message.sent_at >= 0) {
      report(message.from, message.sent_at, "T045", to_string(wait) + " is missing, for " + to_string(message.send),
             "each send of such a table has a wait behind it");
    } else if (message.waited_at >= 0 && message.waited_at < message.sent_at) {
      report(message.from, message.waited_at, "T009", to_string(wait) + " is before " + to_string(message.send),
             "wait after the send");
    }
  }

  void check_side(const Action& transfer, std::int32_t cell, const std::pair<Action, std::int32_t>& compute,
                  bool sends) {
    if (cell < 0 || compute.second < 0 || (compute.second < cell) == sends) return;
    report(device_of_[at(transfer.stage)], cell, "T009",
           to_string(transfer) + (sends ? " is before " : " is after ") + to_string(compute.first) + " (cell " +
               std::to_string(compute.second + 1) + "), which " + (sends ? "makes what it sends" : "needs it"),
           sends ? "send after the compute" : "receive before the compute");
  }

  // One reduction at a time, and a wait for each.
  void check_reductions(std::size_t row) {
    const auto complain = [&](std::int64_t cell, const std::string& what) {
      report(static_cast<std::int64_t>(row), cell, "T040", what,
             "each REDUCE_GRAD has its WAIT_REDUCE_GRAD before the next one begins");
    };
    std::int32_t pending = -1;
    for (std::size_t cell = 0; cell < table_[row].size(); ++cell) {
      const Action& action = table_[row][cell].actions[0];
      const bool begins = action.kind == ActionKind::kReduceGrad;
      if (!begins && action.kind != ActionKind::kWaitReduceGrad) continue;
      const bool fits = begins ? pending < 0 : pending == action.stage;
      if (!fits) complain(static_cast<std::int64_t>(cell), to_string(action) + " is out of turn");
      pending = begins ? action.stage : -1;
    }
    if (pending >= 0) complain(-1, std::to_string(pending) + "WAIT_REDUCE_GRAD is missing");
  }

  // UNSHARD, RESHARD and REDUCE_GRAD are optional; where a row has them they must make sense.
  void check_weights(std::size_t row) {
    const auto has = [&](ActionKind kind) {
      return std::any_of(table_[row].begin(), table_[row].end(),
                         [&](const ActionCell& cell) { return cell.count == 1 && cell.actions[0].kind == kind; });
    };
    const bool gathers = has(ActionKind::kUnshard) || has(ActionKind::kReshard);
    std::set<std::int32_t> resident;
    std::set<std::int32_t> reduced;
    std::set<std::int32_t> computing;
    for (std::size_t cell = 0; cell < table_[row].size(); ++cell) {
      for (const Action& action : table_[row][cell]) {
        if (action.stage >= stages_) continue;
        std::string wrong;
        if (action.kind == ActionKind::kUnshard && !resident.insert(action.stage).second) wrong = "is gathered already";
        if (action.kind == ActionKind::kReshard && resident.erase(action.stage) == 0) wrong = "is not gathered";
        if (is_compute(action.kind)) {
          computing.insert(action.stage);
          if (gathers && !resident.contains(action.stage)) wrong = "is not gathered here";
          if (reduced.contains(action.stage) && action.kind != ActionKind::kForward) wrong = "was reduced before";
        }
        if (action.kind == ActionKind::kReduceGrad && !reduced.insert(action.stage).second)
          wrong = "was reduced before";
        if (wrong.empty()) continue;
        report(static_cast<std::int64_t>(row), static_cast<std::int64_t>(cell), "T040",
               to_string(action) + ": stage " + std::to_string(action.stage) + " " + wrong,
               "UNSHARD before a stage's compute, RESHARD after it, REDUCE_GRAD once, after its last B or W");
      }
    }
    for (const std::int32_t stage : computing) {
      if (reduced.empty() || reduced.contains(stage)) continue;
      report(static_cast<std::int64_t>(row), -1, "T040", std::to_string(stage) + "REDUCE_GRAD is missing",
             "every stage of the row needs one, or none has it");
    }
  }

  const ActionTable& table_;
  const std::vector<std::int32_t>& device_of_;
  std::int32_t stages_;
  std::int32_t microbatches_;
  std::vector<Places> places_;  // by stage and microbatch
  bool waits_ = false;          // the table has some
  CommsCells result_;
};

}  // namespace

CommsCells check_comms_cells(const ActionTable& table, const std::vector<std::int32_t>& device_of,
                             std::int32_t microbatches) {
  return CellsCheck(table, device_of, microbatches).run();
}

}  // namespace debubble
