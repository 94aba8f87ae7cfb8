// ControlChannel: messages between any two ranks apart from the tensors: positions, clocks, results. Main thread only.
#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <optional>
#include <vector>

#include "live/mpi/message_codec.hpp"
#include "live/mpi/message_passing.hpp"

namespace debubble::live {

class ControlChannel {
 public:
  static constexpr int kAnyRank = -1;
  struct Received {
    int from = 0;
    MessageReader message;
  };

  explicit ControlChannel(MessagePassing& passing) : passing_(passing) {}
  // Buffers that a failed run leaves in flight are kept alive: MPI may still read or write them.
  ~ControlChannel();
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  void send(int to, const MessageWriter& writer);
  void send_to_all_others(const MessageWriter& writer);
  // The next message that has arrived. Messages of one rank arrive in the order of sending.
  [[nodiscard]] std::optional<Received> next();
  // Waits for it and yields the core meanwhile. With `from`: waits for one of that rank and queues those of others.
  [[nodiscard]] Received wait(int from = kAnyRank);
  // No send to that rank counts any more: it takes no messages.
  void abandon(int rank);
  // Returns once every send has completed.
  void flush();

 private:
  struct Transfer {
    MessagePassing::Request request = 0;
    int peer = 0;
    std::vector<std::byte> bytes;
  };
  static std::list<Transfer>& abandoned();
  template <typename Condition>
  static void abandon_if(std::list<Transfer>& transfers, const Condition& condition);
  void poll();
  [[nodiscard]] std::optional<Received> arrival();

  MessagePassing& passing_;
  std::list<Transfer> sending_;
  std::list<Transfer> receiving_;
  std::deque<Received> kept_;  // received while waiting for another rank's
};

}  // namespace debubble::live
