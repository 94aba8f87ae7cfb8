// Standing: where one rank is and what it waits for, as it tells rank 0 when nothing has moved for long.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "live/live.hpp"
#include "live/mpi/letter.hpp"
#include "live/plan.hpp"
#include "live/transport.hpp"

namespace debubble::live {

struct Standing {
  enum class Waits : std::uint8_t {
    kNothing,  // at work, or at its end
    kMessage,  // for `tensor` of `peer`: its payload, or (kReady) the other end of the transfer
    kRoom,     // for room on the link to `peer`
    kBarrier,  // for all others, between two iterations
  };
  std::int32_t position = 0;  // in the row
  bool finished = false;      // with this iteration's row
  Waits waits = Waits::kNothing;
  Message::Kind kind = Message::Kind::kPayload;
  Tensor tensor;
  std::int32_t peer = -1;

  friend bool operator==(const Standing&, const Standing&) = default;
};

void write(LetterWriter& letter, const Standing& standing);
[[nodiscard]] Standing read_standing(LetterReader& letter);

// "waiting for the activation 0F3 of device 0"; "at work".
[[nodiscard]] std::string to_string(const Standing& standing);

// Why nothing moves: one standing per device. "a message was lost" when somebody waits for what its sender has sent,
// else "deadlock".
[[nodiscard]] Stall explain(const Schedule& schedule, const Plan& plan, const std::vector<Standing>& standings);

}  // namespace debubble::live
