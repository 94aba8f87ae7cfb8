// The fake NCCL: edges between processes of one machine, over Unix sockets named by the unique id. For tests with the
// fake GPU (tests/workload/fake_cuda.hpp), whose memory is the host's. What is sent was finished before (the caller
// waits for its ops), so a send copies at once; a receive waits for the bytes.
//
//     FAKE_NCCL = version=21705       another version than 2.28.9
//                 fail                connecting fails, as with two ranks on one GPU
//                 fail=1              on rank 1 of mpirun only; its peers wait for it
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "live/mpi/nccl_abi.hpp"

namespace nccl = debubble::nccl;

namespace {

constexpr int kSystemError = 2;
constexpr int kInvalidUsage = 5;

std::string_view option() {
  const char* const set = std::getenv("FAKE_NCCL");
  return set == nullptr ? "" : set;
}

sockaddr_un address_of(const nccl::UniqueId& id, socklen_t& length) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // An abstract name: nothing is left in the file system.
  const std::size_t size = strnlen(id.bytes, 100);
  std::memcpy(address.sun_path + 1, id.bytes, size);
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  return address;
}

// One end. What is to be sent waits in a queue, so that both ends may send first.
class Edge {
 public:
  Edge(const nccl::UniqueId& id, int rank) : writer_([this, id, rank] { connect(id, rank); }) {}
  ~Edge() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    news_.notify_one();
    if (state_ == nccl::kSuccess) ::shutdown(socket_, SHUT_RD);
    writer_.join();
    ::close(socket_);
  }
  Edge(const Edge&) = delete;
  Edge& operator=(const Edge&) = delete;

  int state() const { return state_; }

  void send(const void* data, std::size_t bytes) {
    const auto* const begin = static_cast<const char*>(data);
    const std::lock_guard lock(mutex_);
    queue_.emplace_back(begin, begin + bytes);
    news_.notify_one();
  }

  bool receive(void* data, std::size_t bytes) const {
    auto* at = static_cast<char*>(data);
    while (bytes > 0) {
      const ssize_t got = ::recv(socket_, at, bytes, 0);
      if (got <= 0) return false;
      at += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }

 private:
  // Rank 0 waits, rank 1 knocks until it is heard. Whoever is connected writes what is to be sent.
  void connect(const nccl::UniqueId& id, int rank) {
    socklen_t length = 0;
    const sockaddr_un address = address_of(id, length);
    const auto* const name = reinterpret_cast<const sockaddr*>(&address);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socket_ = socket;
    bool found = false;
    if (rank == 0 && (::bind(socket, name, length) != 0 || ::listen(socket, 1) != 0)) {
      state_ = kSystemError;
      return;
    }
    while (!found && !closing_) {
      if (rank == 0) {
        pollfd waiting{socket, POLLIN, 0};
        if (::poll(&waiting, 1, 1) == 1) socket_ = ::accept(socket, nullptr, nullptr);
        found = socket_ != socket;
      } else {
        found = ::connect(socket, name, length) == 0;
        if (!found) ::usleep(1000);
      }
    }
    if (socket_ != socket) ::close(socket);
    if (!found) return;
    state_ = nccl::kSuccess;
    write_all();
  }

  void write_all() {
    for (std::unique_lock lock(mutex_);;) {
      news_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const std::vector<char> bytes = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t sent = ::send(socket_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
        if (sent <= 0) return;
        at += static_cast<std::size_t>(sent);
      }
      lock.lock();
    }
  }

  std::atomic<int> socket_ = -1;
  std::atomic<int> state_ = nccl::kInProgress;
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<std::vector<char>> queue_;
  std::atomic<bool> closing_ = false;
  std::thread writer_;
};

Edge& edge_of(nccl::Communicator communicator) { return *reinterpret_cast<Edge*>(communicator); }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int ncclGetVersion(int* version) {
  *version = 22809;
  if (option().starts_with("version=")) *version = std::atoi(option().data() + 8);
  return nccl::kSuccess;
}

int ncclGetUniqueId(nccl::UniqueId* id) {
  static int count = 0;
  std::snprintf(id->bytes, sizeof id->bytes, "debubble-fake-nccl-%d-%d", static_cast<int>(::getpid()), ++count);
  return nccl::kSuccess;
}

int ncclCommInitRankConfig(nccl::Communicator* communicator, int ranks, nccl::UniqueId id, int rank,
                           nccl::Config* config) {
  const char* const own = std::getenv("OMPI_COMM_WORLD_RANK");
  const bool fails = option() == "fail" || (own != nullptr && option() == "fail=" + std::string(own));
  if (fails || config->blocking != 0 || ranks != 2 || config->magic != 0xcafebeef) return kInvalidUsage;
  *communicator = reinterpret_cast<nccl::Communicator>(new Edge(id, rank));
  return nccl::kInProgress;
}

int ncclSend(const void* data, std::size_t count, int, int, nccl::Communicator communicator, debubble::cuda::Stream) {
  edge_of(communicator).send(data, count);
  return nccl::kSuccess;
}

int ncclRecv(void* data, std::size_t count, int, int, nccl::Communicator communicator, debubble::cuda::Stream) {
  return edge_of(communicator).receive(data, count) ? nccl::kSuccess : kSystemError;
}

int ncclCommGetAsyncError(nccl::Communicator communicator, int* error) {
  *error = edge_of(communicator).state();
  return nccl::kSuccess;
}

int ncclCommAbort(nccl::Communicator communicator) {
  delete &edge_of(communicator);
  return nccl::kSuccess;
}

int ncclCommDestroy(nccl::Communicator communicator) { return ncclCommAbort(communicator); }

const char* ncclGetErrorString(int result) {
  return result == kInvalidUsage ? "invalid usage" : "unhandled system error";
}

const char* ncclGetLastError(nccl::Communicator) { return ""; }

}  // extern "C"
#pragma GCC visibility pop
