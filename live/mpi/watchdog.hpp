// Watchdog: the ranks decide together how a run ends. Each rank reports to rank 0 when its work has ended, when it has
// failed, and when it has waited longer than `patience` without progress; rank 0 decides and tells all ranks.
//
//     all have ended                                complete
//     one has failed                                failed, with the same message everywhere
//     none is at work, and one or more are stuck    stalled
//     one gives no sign of life any more            stalled, and it is named; its process is stopped, or its host gone
//
// A rank at work is never stuck, however long its op takes. Control messages may be slower than tensors, so before rank
// 0 declares a run stalled it probes all ranks: one that replies "stuck" has been so for `patience`, up to now.
//
// Signs of life go from every rank to rank 0 and from rank 0 to every rank, a few within `most_silence(patience)`. When
// rank 0 itself falls silent, the others cannot agree any more: `poll` throws in each.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "live/mpi/control_channel.hpp"
#include "live/mpi/device_status_codec.hpp"
#include "live/mpi/failure.hpp"
#include "live/mpi/mailbox.hpp"

namespace debubble::live {

struct Outcome {
  enum class Kind : std::uint8_t { kComplete, kStalled, kFailed };
  Kind kind = Kind::kComplete;
  std::vector<DeviceStatus> statuses;  // kStalled: one per rank
  Failure failure;                     // kFailed
  std::vector<int> silent{};           // kStalled: ranks that gave no sign of life
};

auto members(Like<Outcome> auto& outcome) {
  auto& [kind, statuses, failure, silent] = outcome;
  return std::tie(kind, statuses, failure, silent);
}

class Watchdog {
 public:
  Watchdog(MessagePassing& passing, ControlChannel& channel, Mailbox& mailbox, Nanoseconds patience);

  // To be polled; returns the outcome as soon as it is decided. Throws std::runtime_error when rank 0 is silent.
  [[nodiscard]] std::optional<Outcome> poll();
  // This rank has failed; `poll` then returns the outcome.
  void failed(const Failure& failure);
  // After an outcome: waits until every control message has arrived, so that what follows meets none of them and no
  // rank leaves MPI with one in flight. Silent ranks are not waited for.
  void drain();

 private:
  enum class MessageType : std::uint8_t {
    kMoving,
    kStuck,
    kEnded,
    kFailed,
    kProbe,
    kProbeReply,
    kOutcome,
    kLeaving,
    kAlive
  };
  using Clock = std::chrono::steady_clock;
  void check_own_work();
  void give_signs_of_life();
  [[nodiscard]] bool is_silent(int rank, Clock::time_point now, std::chrono::nanoseconds longest) const;
  void look_for_silence(Clock::time_point now);
  void send_state(MessageType type);
  void update(int rank, MessageType type, const DeviceStatus& status);
  void read(ControlChannel::Received received);
  void read_outcome(MessageReader& reader);
  void probe_all();
  void reply_to_probe();
  [[nodiscard]] bool all_stopped() const;
  void decide(Outcome outcome);

  MessagePassing& passing_;
  ControlChannel& channel_;
  Mailbox& mailbox_;
  std::chrono::nanoseconds patience_;
  std::chrono::nanoseconds most_silence_;
  Clock::time_point polled_ = Clock::now();              // last
  Clock::time_point spoke_;                              // gave a sign of life last
  std::vector<std::optional<Clock::time_point>> heard_;  // by rank: last; elsewhere than on rank 0 of rank 0 only
  MessageType last_sent_ = MessageType::kMoving;         // what this rank reported last
  std::vector<MessageType> ranks_;                       // what each rank reported last; rank 0 only, like the next two
  std::vector<DeviceStatus> statuses_;
  std::optional<int> replies_;  // received so far to the open probe
  std::optional<Outcome> outcome_;
};

}  // namespace debubble::live
