// MessagePassing: the little that live execution asks of MPI, so that only one shared library is linked to it.
//
//     debubble ── dlopen ──► libdebubble_mpi.so ── links ──► libmpi
//
// Everything is non-blocking and is called from one thread, the one that started it. Messages of one edge arrive in the
// order of sending. Errors of MPI itself end the job with MPI's own words, its default; nothing here throws.
#pragma once

#include <cstddef>
#include <cstdint>

namespace debubble::live {

class MessagePassing {
 public:
  using Request = int;                         // something under way; `done` takes it back
  static constexpr int kAllRanks = 0;          // the edge that all ranks share
  static constexpr std::size_t kBlock = 64;    // messages are whole blocks, so that they may be larger than 2 GiB
  static constexpr int kInterfaceVersion = 2;  // of this class, see MessagePassingPlugin

  virtual ~MessagePassing() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] virtual int rank_on_host() const = 0;  // 0 for the first of each host's ranks
  [[nodiscard]] virtual int ranks_on_host() const = 0;
  [[nodiscard]] virtual const char* host() const = 0;
  [[nodiscard]] virtual const char* library() const = 0;  // "Open MPI 4.1.4"

  // An edge for what rank `from` sends to rank `to`: a communicator of these two. Both call it, and every rank opens
  // its edges in one order that is the same everywhere.
  [[nodiscard]] virtual int open_edge(int from, int to) = 0;

  // The bytes must stay until the request is done. `to` counts only for kAllRanks.
  [[nodiscard]] virtual Request send(int edge, int to, const std::byte* data, std::size_t bytes) = 0;
  // How many bytes the next message of this edge has, and from whom; -1 while there is none. What is seen here must be
  // taken by `receive` before the next call.
  [[nodiscard]] virtual std::int64_t arrived(int edge, int& from) = 0;
  [[nodiscard]] virtual Request receive(std::byte* data, std::size_t bytes) = 0;
  [[nodiscard]] virtual bool done(Request request) = 0;
  // Done once all ranks have started theirs.
  [[nodiscard]] virtual Request start_barrier() = 0;

  // Leaves MPI, together with all others: returns once they call it too. Nothing may be called after it.
  virtual void finish() = 0;
  // Ends all ranks of the job: for what one rank alone has met, and the others would wait for for ever.
  virtual void abort() = 0;
};

// What the plugin exports, as `debubble_message_passing`. `start` initialises MPI; later calls give the same.
struct MessagePassingPlugin {
  int version = MessagePassing::kInterfaceVersion;
  MessagePassing* (*start)() = nullptr;
};

}  // namespace debubble::live
