// NcclEdges: this rank's edges as NCCL knows them: a communicator of two ranks and a stream for each direction.
//
// Sends and receives of an edge run in the order in which they are issued; nothing here waits for them. Used by one
// thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu/workload/device.hpp"
#include "live/cuda/gpu_parts.hpp"
#include "live/mpi/control_channel.hpp"
#include "live/mpi/nccl_library.hpp"
#include "live/plan.hpp"

namespace debubble::live {

class NcclEdges {
 public:
  // The edges of rank `own`, not connected yet. All must outlive it.
  NcclEdges(const Nccl& nccl, const GpuParts& parts, const GpuPart& part, WorkDevice& memory, int own,
            const Plan& plan);
  ~NcclEdges();  // aborts what is still open
  NcclEdges(const NcclEdges&) = delete;
  NcclEdges& operator=(const NcclEdges&) = delete;

  // First, in every rank with the same plan. Answers every peer, whatever happens. Throws UnavailableError U027.
  void exchange_ids(ControlChannel& channel);
  // Then, again and again until true: connects one edge after the other and sends a small message over each. Never
  // blocks. Throws UnavailableError U027, also after `patience` (30 s at least) without progress, and U026.
  [[nodiscard]] bool connect(Nanoseconds patience);

  void send(int to, DeviceAddress data, Bytes bytes);
  // Returns an event after it; ask `has_happened`.
  [[nodiscard]] cuda::Event receive(int from, DeviceAddress data, Bytes bytes);
  [[nodiscard]] bool has_happened(cuda::Event event);
  [[nodiscard]] bool sends_have_left();
  // Reads memory of which nothing is under way any more, without waiting for work or for other transfers.
  void read(void* to, DeviceAddress data, Bytes bytes);
  // Throws UnavailableError U027 when an edge has failed meanwhile.
  void check_edges() const;
  // After a run that is complete on all ranks; they end the edges together.
  void close();
  // Ends what waits for a peer for good. Nothing may be sent or received after it.
  void abort();

 private:
  struct Edge {
    enum class State : std::uint8_t { kNew, kConnecting, kGreeting, kGreeted };
    State state = State::kNew;
    int side = 0;  // 0 sends, 1 receives
    int peer = 0;
    nccl::UniqueId id;
    nccl::Communicator communicator = nullptr;
    OwnedHandle<cuda::Stream> stream;
    OwnedHandle<cuda::Event> last;  // after the last send
    std::vector<OwnedHandle<cuda::Event>> events;
    std::size_t used = 0;
  };
  [[nodiscard]] bool connect(Edge& edge);
  [[nodiscard]] nccl::Result transfer(Edge& edge, DeviceAddress data, Bytes bytes) const;
  void issue(Edge& edge, DeviceAddress data, Bytes bytes, cuda::Event marker);
  [[nodiscard]] bool is_idle(const Edge& edge) const;
  void end(nccl::Result (*how)(nccl::Communicator));
  void check_start(nccl::Result result, const std::string& what) const;
  void check(cuda::Result result, const std::string& what) const;

  const Nccl& nccl_;
  const GpuParts& parts_;
  GpuPart part_;
  WorkDevice& memory_;
  std::map<int, Edge> out_;  // by peer
  std::map<int, Edge> in_;
  std::vector<Edge*> order_;  // as edges_of has them
  std::size_t next_ = 0;      // to be connected
  DeviceAddress greeting_ = 0;
  std::chrono::steady_clock::time_point moved_;
  OwnedHandle<cuda::Stream> reading_;
};

}  // namespace debubble::live
