// Exchange: the main thread's half of the links: carries messages between a rank's mailbox and its edges.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "live/device_runner.hpp"
#include "live/mpi/mailbox.hpp"
#include "live/mpi/message_passing.hpp"
#include "live/plan.hpp"

namespace debubble::live {

// Every (from, to) between which something travels, sorted. Both directions of each pair: a receiver that is ready says
// so to its sender.
[[nodiscard]] std::vector<std::pair<int, int>> edges_of(const Plan& plan);

class Exchange {
 public:
  // Opens this rank's edges. All ranks call it with the same plan.
  Exchange(MessagePassing& passing, const Plan& plan, Mailbox& mailbox);
  // What a stalled run leaves under way stays alive: MPI may still write to it.
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // One look at everything that is under way. False: nothing has moved.
  [[nodiscard]] bool progress();
  // Wall clock: what is added to the times of messages from each rank to get this rank's clock, which is `now`. A
  // message that comes later than its emulated link would bring it has arrived when it came.
  void use_clock(WallClock now, std::vector<Nanoseconds> shifts);

 private:
  struct Transfer {
    MessagePassing::Request request = 0;
    int peer = 0;
    std::vector<std::byte> frame;
  };
  static std::list<Transfer>& abandoned();
  bool start_sends();
  bool finish_sends();
  bool start_receives();
  bool finish_receives();
  void deliver(const Transfer& transfer);
  bool progress_barrier();
  [[nodiscard]] std::size_t in_flight() const;  // bytes

  MessagePassing& passing_;
  Mailbox& mailbox_;
  std::map<int, int> out_;  // peer -> edge
  std::map<int, int> in_;
  WallClock now_;
  std::vector<Nanoseconds> shifts_;
  std::list<Transfer> sending_;
  std::list<Transfer> receiving_;
  std::optional<MessagePassing::Request> barrier_;
};

}  // namespace debubble::live
