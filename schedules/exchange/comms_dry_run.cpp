// PyTorch's dry run: every action takes one step, and a receive needs its send to have run.
#include <algorithm>
#include <string>

#include "schedules/exchange/comms_lowering.hpp"
#include "schedules/exchange/done_actions.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

class DryRun {
 public:
  DryRun(const ActionTable& table, const std::vector<std::int32_t>& device_of)
      : device_of_(device_of), done_(table, device_of.size()), rows_(table.size()) {
    for (std::size_t device = 0; device < table.size(); ++device) {
      for (const ActionCell& cell : table[device]) {
        if (cell.count > 0) rows_[device].actions.push_back(checked(cell));
      }
    }
  }

  int run() {
    while (std::any_of(rows_.begin(), rows_.end(), [](const Row& row) { return !row.ended(); })) {
      bool progress = false;
      for (Row& row : rows_) {
        if (row.ended()) continue;
        ++row.steps;
        row.idle = !run_next(row);
        progress = progress || !row.idle;
      }
      // Who found nothing to do tries once more, now that devices with higher numbers had their turn.
      for (Row& row : rows_) {
        if (!row.ended() && row.idle) row.idle = !run_next(row);
      }
      if (!progress) throw_stuck();
    }
    int steps = 0;
    for (const Row& row : rows_) steps = std::max(steps, row.steps);
    return steps;
  }

 private:
  struct Row {
    std::vector<Action> actions;
    std::size_t next = 0;
    int steps = 0;
    bool idle = false;

    [[nodiscard]] bool ended() const { return next == actions.size(); }
  };

  static Action checked(const ActionCell& cell) {
    if (cell.count == 1 && has_microbatch(cell.actions[0].kind)) return cell.actions[0];
    throw InputError({"T054", "", "PyTorch's dry run does not know " + to_string(cell),
                      "it runs tables of F, B, I, W, SEND and RECV alone"});
  }

  [[nodiscard]] bool ready(const Action& action) const {
    const auto [kind, stage, microbatch] = action;
    if (kind == ActionKind::kSendForward) return done_.has(ActionKind::kForward, stage, microbatch);
    if (kind == ActionKind::kSendBackward) return done_.has_gradient(stage, microbatch);
    if (kind == ActionKind::kReceiveForward) return done_.has(ActionKind::kSendForward, stage - 1, microbatch);
    if (kind == ActionKind::kReceiveBackward) return done_.has(ActionKind::kSendBackward, stage + 1, microbatch);
    return done_.inputs_are_there(action, device_of_);
  }

  bool run_next(Row& row) {
    const Action& action = row.actions[row.next];
    if (!ready(action)) return false;
    done_.add(action);
    ++row.next;
    return true;
  }

  [[noreturn]] void throw_stuck() const {
    std::string waiting;
    for (const Row& row : rows_) {
      if (!row.ended()) waiting += (waiting.empty() ? "" : ", ") + to_string(row.actions[row.next]);
    }
    throw InputError({"T011", "", "no device can go on: " + waiting + " wait for what is never sent",
                      "each device runs its row strictly in order: reorder one of the rows"});
  }

  const std::vector<std::int32_t>& device_of_;
  DoneActions done_;
  std::vector<Row> rows_;
};

}  // namespace

int dry_run_steps(const ActionTable& table, const std::vector<std::int32_t>& device_of) {
  return DryRun(table, device_of).run();
}

}  // namespace debubble
