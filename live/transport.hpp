// Transport: how one device's worker reaches the others. Threads have queues (live/cpu), processes MPI (live/mpi).
//
// Links are bounded. A worker that waits to send takes in what arrives meanwhile, so a full link delays, and never
// deadlocks, what unbounded links would let through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "live/plan.hpp"
#include "sim/core/units.hpp"

namespace debubble::live {

struct Message {
  enum class Kind : std::uint8_t {
    kPayload,
    kReady,  // blocking and coupled: "my end is posted", without payload; `time` says since when
  };
  Kind kind = Kind::kPayload;
  Tensor tensor;
  std::int32_t iteration = 0;
  std::int32_t from = 0;
  std::uint64_t chain = 0;     // of the tensor, see live/checksum.hpp
  std::uint64_t checksum = 0;  // of the payload
  Nanoseconds time = 0;        // logical clock: when the transfer begins, or the end is posted; wall: when it was sent
  Nanoseconds arrival = 0;     // when the user has it, on the sender's clock
  std::vector<std::byte> payload;
};

// Thrown out of a blocking call when the watchdog has decided that nothing moves any more.
struct Stalled {};

class Transport {
 public:
  virtual ~Transport() = default;

  // Returns once the message is in flight; receives arrivals while the link is full.
  virtual void send(std::int32_t to, Message message) = 0;
  // The message with this kind, tensor and iteration; others that arrive before it are kept for later.
  [[nodiscard]] virtual Message receive(Message::Kind kind, const Tensor& tensor, std::int32_t from,
                                        std::int32_t iteration) = 0;
  // Progress of this device, for the watchdog: position in the row, or -1 once it has finished. May throw
  // Stalled.
  virtual void at(std::int32_t position) = 0;
  // Whether blocking calls would throw Stalled: for waits that are not for a message. Cheap; any time.
  [[nodiscard]] virtual bool stopped() const { return false; }
  // All devices meet; between iterations.
  virtual void barrier() = 0;
};

}  // namespace debubble::live
