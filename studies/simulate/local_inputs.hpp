// LocalInputs: when what a cell takes from its own device was made. Internal to studies/simulate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/core/at.hpp"
#include "sim/core/schedule.hpp"
#include "sim/engine/tensors_on_way.hpp"

namespace debubble {

class LocalInputs {
 public:
  explicit LocalInputs(const Schedule& schedule)
      : schedule_(schedule), ends_(2 * to_index(schedule.stages), schedule.total_pieces()) {}

  [[nodiscard]] Nanoseconds take(const Op& op) {
    if (op.kind == OpKind::kForward) return same_device(op, op.stage - 1) ? take(0, op.stage - 1, op.microbatch) : 0;
    if (!makes_input_gradient(op.kind)) return take(1, op.stage, op.microbatch);
    const Nanoseconds own = take(0, op.stage, op.microbatch);
    return same_device(op, op.stage + 1) ? std::max(own, take(1, op.stage + 1, op.microbatch)) : own;
  }

  // A forward is taken by its own backward and by the next stage, an input gradient by W and by the stage before.
  void put(const Op& op, Nanoseconds end) {
    if (op.kind == OpKind::kForward) {
      put(0, op, 1 + (same_device(op, op.stage + 1) ? 1 : 0), end);
    } else if (makes_input_gradient(op.kind)) {
      put(1, op, (makes_weight_gradient(op.kind) ? 0 : 1) + (same_device(op, op.stage - 1) ? 1 : 0), end);
    }
  }

 private:
  [[nodiscard]] bool same_device(const Op& op, std::int32_t stage) const {
    if (stage < 0 || stage >= schedule_.stages) return false;
    const std::int32_t replica = at(schedule_.replica_of, op.microbatch);
    return schedule_.placement.device_of(replica, stage) == schedule_.placement.device_of(replica, op.stage);
  }
  [[nodiscard]] Nanoseconds take(std::int32_t what, std::int32_t stage, std::int32_t piece) {
    const std::int32_t place = 2 * stage + what;
    const Nanoseconds end = ends_.find(place, piece).end;
    ends_.take(place, piece);
    return end;
  }
  void put(std::int32_t what, const Op& op, int takers, Nanoseconds end) {
    for (int taker = 0; taker < takers; ++taker) ends_.put(2 * op.stage + what, op.microbatch, {0, end});
  }

  const Schedule& schedule_;
  TensorsOnWay ends_;
};

}  // namespace debubble
