#include "live/mpi/device_status_codec.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/core/at.hpp"

namespace debubble::live {

void check(const DeviceStatus& status, const Schedule& schedule, std::int32_t device) {
  const auto length = static_cast<std::int32_t>(at(schedule.rows, device).size());
  bool ok = status.position >= -1 && status.position <= length;
  if (status.waits) {
    const Tensor& tensor = status.tensor;
    ok = ok && (status.kind == Message::Kind::kPayload || status.kind == Message::Kind::kReady);
    ok = ok && status.from >= 0 && status.from < schedule.devices;
    ok = ok && tensor.stage >= 0 && tensor.stage + 1 < schedule.stages;
    ok = ok && tensor.piece >= 0 && tensor.piece < schedule.total_pieces();
  }
  if (!ok) throw std::logic_error("a status message about device " + std::to_string(device) + " makes no sense");
}

std::string place_of(const Schedule& schedule, std::int32_t device, const DeviceStatus& status) {
  const std::vector<Op>& row = at(schedule.rows, device);
  const std::string name = "device " + std::to_string(device);
  const auto position = static_cast<std::size_t>(status.position);
  if (status.position < 0 || position >= row.size()) return "past the last op of " + name;
  std::string text = "at " + to_string(row[position]) + ", op " + std::to_string(position + 1) + " of " +
                     std::to_string(row.size()) + " of " + name;
  if (!status.waits) return text + ", at work";
  text += ", waiting for ";
  if (status.kind == Message::Kind::kReady) return text + "the other end of " + to_string(status.tensor);
  return text + to_string(status.tensor) + " of device " + std::to_string(status.from);
}

}  // namespace debubble::live
