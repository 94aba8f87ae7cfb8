#include "live/stall.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/rows/op_index.hpp"

namespace debubble::live {

namespace {

class Explaining {
 public:
  Explaining(const Job& job, const std::vector<DeviceStatus>& devices)
      : job_(job), ops_(job.ops()), devices_(devices) {}

  Stall run() {
    Stall stall;
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      const auto& row = job_.schedule().rows[d];
      const DeviceStatus& status = devices_[d];
      DevicePosition position;
      position.device = static_cast<std::int32_t>(d);
      position.finished = status.position < 0;
      const auto size = static_cast<std::int32_t>(row.size());
      position.position = position.finished ? size : status.position;
      if (!row.empty()) position.op = at(row, std::min(position.position, size - 1));
      if (status.waits) position.waits_for = what(status);
      stall.devices.push_back(std::move(position));
    }
    stall.cause = lost_ ? "a message was lost" : "deadlock";
    return stall;
  }

 private:
  std::string what(const DeviceStatus& status) {
    const std::string peer = "device " + std::to_string(status.from);
    if (status.kind == Message::Kind::kReady) {
      return peer + " to take " + to_string(status.tensor) + ", for which it " +
             (has_passed(status.from, user_of(status.tensor)) ? "has passed the place" : "is not ready");
    }
    const bool sent = has_sent(status.from, maker_of(status.tensor));
    lost_ |= sent;
    return to_string(status.tensor) + " of " + peer + ", which " + peer + (sent ? " has sent" : " has not reached");
  }

  [[nodiscard]] std::int32_t maker_of(const Tensor& t) const {
    const Op user{t.gradient ? OpKind::kBackward : OpKind::kForward, false, t.gradient ? t.stage : t.stage + 1,
                  t.piece};
    return ops_.feeder(user);
  }
  [[nodiscard]] std::int32_t user_of(const Tensor& t) const { return ops_.user(ops_.op(maker_of(t))); }

  // A blocking cell's second output is not on its way while the first waits for its receiver.
  [[nodiscard]] bool has_sent(std::int32_t device, std::int32_t op) const {
    if (!has_passed(device, op)) return false;
    const DeviceStatus& sender = at(devices_, device);
    const bool sends = job_.request().p2p == P2p::kBlocking && sender.waits && sender.kind == Message::Kind::kReady;
    return !sends || maker_of(sender.tensor) + 1 != op || ops_.cell_end(op - 1) != op + 1;
  }

  [[nodiscard]] bool has_passed(std::int32_t device, std::int32_t op) const {
    const std::int32_t position = at(devices_, device).position;
    return position < 0 || position > ops_.position(op);
  }

  const Job& job_;
  const OpIndex& ops_;
  const std::vector<DeviceStatus>& devices_;
  bool lost_ = false;
};

}  // namespace

Stall explain_stall(const Job& job, const std::vector<DeviceStatus>& devices) { return Explaining(job, devices).run(); }

}  // namespace debubble::live
