#include "live/cuda/stage_memory.hpp"

#include <algorithm>

#include "sim/core/at.hpp"

namespace debubble::live {
namespace {

using MemoryPiece = std::pair<std::int32_t, std::int32_t>;

class RowWalk {
 public:
  explicit RowWalk(const std::vector<StageFootprint>& stages) : stages_(stages) {}

  void begin(const Op& op) {
    const StageFootprint& size = at(stages_, op.stage);
    if (op.kind == OpKind::kForward) {
      take(op, Region::kUntilBackward);
      take(op, Region::kUntilWeightGrad);
      counted_ += size.activation;
    } else if (op.kind != OpKind::kWeightGrad) {
      take(op, Region::kHeld);  // written while I or B runs, so it needs its place from the begin
    }
    memory_.peak_activation = std::max(memory_.peak_activation, counted_);
  }

  void end(const Op& op) {
    const StageFootprint& size = at(stages_, op.stage);
    if (makes_input_gradient(op.kind)) {
      give_back(op, Region::kUntilBackward);
      counted_ -= size.activation;
    }
    if (op.kind == OpKind::kInputGrad) counted_ += size.weight_grad_held;
    if (op.kind == OpKind::kWeightGrad) counted_ -= size.weight_grad_held;
    if (makes_weight_gradient(op.kind)) {
      give_back(op, Region::kUntilWeightGrad);
      give_back(op, Region::kHeld);
    }
    memory_.peak_activation = std::max(memory_.peak_activation, counted_);
  }

  RowMemory finish() {
    memory_.extent = arena_.extent();
    memory_.high_water = arena_.high_water();
    return std::move(memory_);
  }

 private:
  void take(const Op& op, Region region) {
    const auto index = static_cast<std::size_t>(region);
    memory_.places[{op.stage, op.microbatch}][index] = arena_.take(at(stages_, op.stage).regions[index]);
    taken_[{op.stage, op.microbatch}][index] = true;
  }

  // In a row that a `swap` fault has changed a piece may be given back before it was taken: its wrong data is found
  // later.
  void give_back(const Op& op, Region region) {
    const auto index = static_cast<std::size_t>(region);
    bool& taken = taken_[{op.stage, op.microbatch}][index];
    if (!taken) return;
    taken = false;
    arena_.give_back(memory_.places[{op.stage, op.microbatch}][index], at(stages_, op.stage).regions[index]);
  }

  const std::vector<StageFootprint>& stages_;
  Arena arena_;
  std::map<MemoryPiece, std::array<bool, kRegions>> taken_;
  Bytes counted_ = 0;
  RowMemory memory_;
};

}  // namespace

RowMemory plan_row_memory(const std::vector<Op>& row, const std::vector<StageFootprint>& stages) {
  // All of a cell begins before any of it ends: the members of an overlapped pair are live together.
  RowWalk walk(stages);
  for (std::size_t k = 0; k < row.size();) {
    const std::size_t cell = row[k].paired_with_next ? 2 : 1;
    for (std::size_t member = k; member < k + cell; ++member) walk.begin(row[member]);
    for (std::size_t member = k; member < k + cell; ++member) walk.end(row[member]);
    k += cell;
  }
  return walk.finish();
}

}  // namespace debubble::live
