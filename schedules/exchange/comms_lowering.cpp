#include "schedules/exchange/comms_lowering.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "schedules/exchange/done_actions.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/rows/gathered_stages.hpp"

namespace debubble {
namespace {

ActionCell single(ActionKind kind, std::int32_t stage, std::int32_t microbatch = -1) {
  return {{Action{kind, stage, microbatch}, Action{}}, 1};
}

bool holds_stage(const std::vector<std::int32_t>& stages, std::int32_t stage) {
  return std::find(stages.begin(), stages.end(), stage) != stages.end();
}

std::vector<ActionCell> with_unshard_reshard(const std::vector<ActionCell>& row, bool ascending) {
  std::vector<CellStages> stages;
  for (const ActionCell& cell : row) stages.push_back({{cell.actions[0].stage, cell.actions[1].stage}, cell.count});
  const std::vector<GatheredStages> gathered = gathered_stages(stages);
  std::vector<ActionCell> result;
  std::vector<std::int32_t> resident;  // in the order in which they are given back
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row[k].count == 0) continue;
    const GatheredStages& next = gathered[k];
    for (const std::int32_t stage : resident) {
      if (!next.has(stage)) result.push_back(single(ActionKind::kReshard, stage));
    }
    std::erase_if(resident, [&](std::int32_t stage) { return !next.has(stage); });
    for (const std::int32_t stage : next) {
      if (holds_stage(resident, stage)) continue;
      result.push_back(single(ActionKind::kUnshard, stage));
      resident.insert(ascending ? std::upper_bound(resident.begin(), resident.end(), stage) : resident.end(), stage);
    }
    result.push_back(row[k]);
  }
  for (const std::int32_t stage : resident) result.push_back(single(ActionKind::kReshard, stage));
  return result;
}

class SendReceive {
 public:
  SendReceive(const ActionTable& table, const std::vector<std::int32_t>& device_of)
      : table_(table), device_of_(device_of), done_(table, device_of.size()), next_(table.size(), 0) {
    result_.resize(table.size());
  }

  ActionTable run() {
    while (true) {
      bool progress = false;
      bool ended = true;
      for (std::size_t device = 0; device < table_.size(); ++device) {
        if (next_[device] == table_[device].size()) continue;
        ended = false;
        progress = take_turn(device) || progress;
      }
      if (ended) return std::move(result_);
      if (!progress) throw_stuck();
    }
  }

 private:
  bool take_turn(std::size_t device) {
    const ActionCell& cell = table_[device][next_[device]];
    const auto ready = [&](const Action& action) { return done_.inputs_are_there(action, device_of_); };
    if (!std::all_of(cell.begin(), cell.end(), ready)) return false;
    ++next_[device];
    if (cell.count == 0) return true;
    result_[device].push_back(cell);
    for (const Action& action : cell) done_.add(action);
    for (const Action& action : cell) send(action, device);
    return true;
  }

  void send(const Action& action, std::size_t device) {
    const bool forward = action.kind == ActionKind::kForward;
    if (!forward && action.kind != ActionKind::kBackward && action.kind != ActionKind::kInputGrad) return;
    const std::int32_t to = forward ? action.stage + 1 : action.stage - 1;
    if (to < 0 || to >= static_cast<std::int32_t>(device_of_.size())) return;
    const auto receiver = static_cast<std::size_t>(at(device_of_, to));
    if (receiver == device) return;
    const auto both = forward ? std::pair(ActionKind::kSendForward, ActionKind::kReceiveForward)
                              : std::pair(ActionKind::kSendBackward, ActionKind::kReceiveBackward);
    result_[device].push_back(single(both.first, action.stage, action.microbatch));
    result_[receiver].push_back(single(both.second, to, action.microbatch));
    done_.add({both.second, to, action.microbatch});
  }

  [[noreturn]] void throw_stuck() const {
    std::string waiting;
    for (std::size_t device = 0; device < table_.size(); ++device) {
      if (next_[device] == table_[device].size()) continue;
      waiting += (waiting.empty() ? "" : ", ") + to_string(table_[device][next_[device]]);
    }
    throw InputError({"T011", "", "no device can go on: " + waiting + " wait for what is never sent",
                      "each device runs its row strictly in order: reorder one of the rows"});
  }

  const ActionTable& table_;
  const std::vector<std::int32_t>& device_of_;
  DoneActions done_;
  std::vector<std::size_t> next_;  // by device: its first cell that is not placed
  ActionTable result_;
};

}  // namespace

ActionTable action_table(const Schedule& schedule) {
  ActionTable table;
  for (const auto& row : schedule.rows) {
    std::vector<ActionCell>& cells = table.emplace_back();
    for (std::size_t k = 0; k < row.size(); ++k) {
      ActionCell& cell = cells.emplace_back();
      const bool pair = row[k].paired_with_next && k + 1 < row.size();
      for (; cell.count < (pair ? 2 : 1); ++cell.count) {
        const Op& op = row[k + static_cast<std::size_t>(cell.count)];
        at(cell.actions, cell.count) = {kind_of(op.kind), op.stage, op.microbatch};
      }
      if (pair) ++k;
    }
  }
  return table;
}

std::vector<std::int32_t> devices_of_stages(const Schedule& schedule, const std::string& place) {
  const Placement& placement = schedule.placement;
  std::vector<std::int32_t> devices;
  for (int stage = 0; stage < placement.stages(); ++stage) {
    devices.push_back(placement.device_of(0, stage));
    for (int replica = 1; replica < placement.replicas(); ++replica) {
      if (placement.device_of(replica, stage) == devices.back()) continue;
      throw InputError({"T054", place,
                        "stage " + std::to_string(stage) + " is on devices " + std::to_string(devices.back()) +
                            " and " + std::to_string(placement.device_of(replica, stage)) +
                            "; PyTorch's runtime keeps each stage on one rank",
                        "no framework runs a table of several replicas; --to schedule-json keeps the schedule whole"});
    }
  }
  return devices;
}

ActionTable add_unshard_reshard(const ActionTable& table, TorchRelease release) {
  ActionTable result;
  for (const auto& row : table) result.push_back(with_unshard_reshard(row, release == TorchRelease::k2_13));
  return result;
}

ActionTable add_reduce_grad(const ActionTable& table, int microbatches, TorchRelease release) {
  ActionTable result;
  for (const auto& row : table) {
    std::vector<ActionCell>& cells = result.emplace_back();
    std::vector<int> finished;  // by stage
    for (const ActionCell& cell : row) {
      cells.push_back(cell);
      for (const Action& action : cell) {
        if (action.kind != ActionKind::kBackward && action.kind != ActionKind::kWeightGrad) continue;
        const auto stage = static_cast<std::size_t>(action.stage);
        if (stage >= finished.size()) finished.resize(stage + 1, 0);
        if (++finished[stage] != microbatches) continue;
        cells.push_back(single(ActionKind::kReduceGrad, action.stage));
        if (release != TorchRelease::k2_13) cells.push_back(single(ActionKind::kWaitReduceGrad, action.stage));
      }
    }
  }
  return result;
}

ActionTable add_send_receive(const ActionTable& table, const std::vector<std::int32_t>& device_of) {
  return SendReceive(table, device_of).run();
}

ActionTable add_send_waits(const ActionTable& table) {
  ActionTable result;
  for (const auto& row : table) {
    std::vector<ActionCell>& cells = result.emplace_back();
    std::set<std::pair<std::int32_t, std::int32_t>> forwards;  // stage and microbatch of sends without a wait
    std::vector<Action> sends;
    for (const ActionCell& cell : row) {
      cells.push_back(cell);
      for (const Action& action : cell) {
        const std::pair sent(action.stage, action.microbatch);
        if (action.kind == ActionKind::kSendForward) forwards.insert(sent);
        if (is_send(action.kind)) sends.push_back(action);
        const bool backward = action.kind == ActionKind::kBackward || action.kind == ActionKind::kInputGrad;
        if (backward && forwards.erase(sent) > 0) {
          cells.push_back(single(ActionKind::kWaitSendForward, action.stage, action.microbatch));
        }
      }
    }
    for (const Action& send : sends) {
      const bool forward = send.kind == ActionKind::kSendForward;
      if (forward && !forwards.contains({send.stage, send.microbatch})) continue;
      cells.push_back(
          single(forward ? ActionKind::kWaitSendForward : ActionKind::kWaitSendBackward, send.stage, send.microbatch));
    }
  }
  return result;
}

ActionTable lower_as_pytorch(const Schedule& schedule, const std::string& place, TorchRelease release) {
  const std::vector<std::int32_t> device_of = devices_of_stages(schedule, place);
  const ActionTable gathered = add_unshard_reshard(action_table(schedule), release);
  const ActionTable reduced = add_reduce_grad(gathered, schedule.total_pieces(), release);
  const ActionTable sent = add_send_receive(reduced, device_of);
  return release == TorchRelease::k2_13 ? sent : add_send_waits(sent);
}

std::vector<std::vector<std::int32_t>> receives_of(const ActionTable& table, const Schedule& schedule) {
  std::vector<std::vector<std::int32_t>> receives;
  for (std::size_t device = 0; device < table.size(); ++device) {
    std::map<std::tuple<bool, std::int32_t, std::int32_t>, std::int32_t> posted;  // by gradient, stage, microbatch
    std::int32_t position = 0;
    for (const ActionCell& cell : table[device]) {
      const Action& action = cell.actions[0];
      if (is_compute(action.kind)) position += cell.count;
      const bool gradient = action.kind == ActionKind::kReceiveBackward;
      if (gradient || action.kind == ActionKind::kReceiveForward) {
        posted[{gradient, action.stage, action.microbatch}] = position;
      }
    }
    std::vector<std::int32_t>& row = receives.emplace_back();
    for (const Op& op : schedule.rows[device]) {
      const auto found = posted.find({op.kind != OpKind::kForward, op.stage, op.microbatch});
      const bool receives_input = found != posted.end() && op.kind != OpKind::kWeightGrad;
      const bool second = !row.empty() && schedule.rows[device][row.size() - 1].paired_with_next;
      const auto own_cell = static_cast<std::int32_t>(row.size()) - (second ? 1 : 0);
      row.push_back(receives_input ? found->second : own_cell);
    }
  }
  return receives;
}

ActionTable merge_backward_halves(const ActionTable& table) {
  ActionTable result;
  for (const auto& row : table) {
    std::vector<ActionCell>& cells = result.emplace_back();
    for (const ActionCell& cell : row) {
      if (cell.count == 0) continue;
      const Action& action = cell.actions[0];
      const Action wanted{ActionKind::kInputGrad, action.stage, action.microbatch};
      const bool halves = cell.count == 1 && action.kind == ActionKind::kWeightGrad && !cells.empty() &&
                          cells.back().count == 1 && cells.back().actions[0] == wanted;
      if (halves) cells.back() = single(ActionKind::kBackward, action.stage, action.microbatch);
      if (!halves) cells.push_back(cell);
    }
  }
  return result;
}

}  // namespace debubble
