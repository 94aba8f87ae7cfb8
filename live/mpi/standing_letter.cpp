#include "live/mpi/standing_letter.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace debubble::live {

void write(LetterWriter& letter, const Standing& standing) {
  letter.number(standing.position).number(standing.waits ? 1 : 0).number(static_cast<std::int64_t>(standing.kind));
  letter.number(standing.tensor.gradient ? 1 : 0).number(standing.tensor.stage).number(standing.tensor.piece);
  letter.number(standing.from);
}

Standing read_standing(LetterReader& letter) {
  Standing standing;
  letter.into(standing.position);
  letter.into(standing.waits);
  letter.into(standing.kind);
  letter.into(standing.tensor.gradient);
  letter.into(standing.tensor.stage);
  letter.into(standing.tensor.piece);
  letter.into(standing.from);
  return standing;
}

void check(const Standing& standing, const Schedule& schedule, std::int32_t device) {
  const auto length = static_cast<std::int32_t>(schedule.rows[static_cast<std::size_t>(device)].size());
  bool ok = standing.position >= -1 && standing.position <= length;
  if (standing.waits) {
    const Tensor& tensor = standing.tensor;
    ok = ok && (standing.kind == Message::Kind::kPayload || standing.kind == Message::Kind::kReady);
    ok = ok && standing.from >= 0 && standing.from < schedule.devices;
    ok = ok && tensor.stage >= 0 && tensor.stage + 1 < schedule.stages;
    ok = ok && tensor.piece >= 0 && tensor.piece < schedule.total_pieces();
  }
  if (!ok) throw std::logic_error("a letter about device " + std::to_string(device) + " makes no sense");
}

std::string place_of(const Schedule& schedule, std::int32_t device, const Standing& standing) {
  const std::vector<Op>& row = schedule.rows[static_cast<std::size_t>(device)];
  const std::string name = "device " + std::to_string(device);
  const auto position = static_cast<std::size_t>(standing.position);
  if (standing.position < 0 || position >= row.size()) return "behind the last op of " + name;
  std::string text = "at " + to_string(row[position]) + ", op " + std::to_string(position + 1) + " of " +
                     std::to_string(row.size()) + " of " + name;
  if (!standing.waits) return text + ", at work";
  text += ", waiting for ";
  if (standing.kind == Message::Kind::kReady) return text + "the other end of " + to_string(standing.tensor);
  return text + to_string(standing.tensor) + " of device " + std::to_string(standing.from);
}

}  // namespace debubble::live
