// DoneActions: which actions of a table are done, while it is lowered or run dry. A stage is on one device, so what is
// done needs no device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedules/exchange/compute_table_cells.hpp"

namespace debubble {

class DoneActions {
 public:
  // Numbers of the table must not be negative, and its stages below `stages`.
  DoneActions(const ActionTable& table, std::size_t stages) : stages_(stages) {
    for (const auto& row : table) {
      for (const ActionCell& cell : row) {
        for (const Action& action : cell) microbatches_ = std::max(microbatches_, index(action.microbatch + 1));
      }
    }
    kinds_.assign(stages_ * microbatches_, 0);
  }

  void add(const Action& action) {
    if (action.microbatch >= 0) kinds_[at(action)] |= bit(action.kind);
  }
  [[nodiscard]] bool has(ActionKind kind, std::int32_t stage, std::int32_t microbatch) const {
    return (kinds_[at({kind, stage, microbatch})] & bit(kind)) != 0;
  }
  // B or I, whichever the table has.
  [[nodiscard]] bool has_gradient(std::int32_t stage, std::int32_t microbatch) const {
    return has(ActionKind::kBackward, stage, microbatch) || has(ActionKind::kInputGrad, stage, microbatch);
  }

  // Whether an action may come next in its device's row: what comes from a neighbouring stage has been received, or
  // was made on the same device. PyTorch takes everything but F, B and I for ready.
  [[nodiscard]] bool inputs_are_there(const Action& action, const std::vector<std::int32_t>& device_of) const {
    const std::int32_t stage = action.stage;
    const std::int32_t microbatch = action.microbatch;
    const auto same_device = [&](std::int32_t other) { return device_of[index(other)] == device_of[index(stage)]; };
    if (action.kind == ActionKind::kForward && stage > 0) {
      if (has(ActionKind::kReceiveForward, stage, microbatch)) return true;
      return same_device(stage - 1) && has(ActionKind::kForward, stage - 1, microbatch);
    }
    const bool gradient = action.kind == ActionKind::kBackward || action.kind == ActionKind::kInputGrad;
    if (!gradient || index(stage) + 1 == stages_) return true;
    if (has(ActionKind::kReceiveBackward, stage, microbatch)) return true;
    return same_device(stage + 1) && has_gradient(stage + 1, microbatch);
  }

 private:
  [[nodiscard]] static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] static std::uint32_t bit(ActionKind kind) { return std::uint32_t{1} << static_cast<unsigned>(kind); }
  [[nodiscard]] std::size_t at(const Action& action) const {
    return index(action.stage) * microbatches_ + index(action.microbatch);
  }

  std::size_t stages_;
  std::size_t microbatches_ = 0;
  std::vector<std::uint32_t> kinds_;  // by stage and microbatch: a bit for each kind
};

}  // namespace debubble
