// NcclEdges: this rank's edges as NCCL knows them: a communicator of two ranks and a stream for each direction.
//
// Sends and receives of an edge run in the order in which they are issued; nothing here waits for them. Used by one
// thread at a time.
#pragma once

#include <map>
#include <memory>

#include "live/cuda/gpu_parts.hpp"
#include "live/mpi/control_line.hpp"
#include "live/mpi/nccl_library.hpp"
#include "live/plan.hpp"
#include "profiler/workload/device.hpp"

namespace debubble::live {

class NcclEdges {
 public:
  // Call in every rank with the same plan: ids travel by `line`. Sends one small message over every edge, since NCCL
  // connects when an edge is first used. Throws UnavailableError U056, U027.
  NcclEdges(const Nccl& nccl, const GpuParts& parts, const GpuPart& part, WorkDevice& memory, MessagePassing& passing,
            ControlLine& line, const Plan& plan);
  ~NcclEdges();
  NcclEdges(const NcclEdges&) = delete;
  NcclEdges& operator=(const NcclEdges&) = delete;

  void send(int to, DeviceAddress data, Bytes bytes);
  // Returns an event behind it; ask `has_happened`.
  [[nodiscard]] cuda::Event receive(int from, DeviceAddress data, Bytes bytes);
  [[nodiscard]] bool has_happened(cuda::Event event);
  [[nodiscard]] bool sends_have_left();
  // Reads memory on the stream of an edge whose receives have happened, so without waiting for the compute stream.
  void read(int from, void* to, DeviceAddress data, Bytes bytes);
  // Throws UnavailableError U056 when an edge has failed meanwhile.
  void check_edges() const;
  // Ends what waits for a peer for good. Nothing may be sent or received after it.
  void abort();

 private:
  struct Edge {
    nccl::Communicator communicator = nullptr;
    OwnedHandle<cuda::Stream> stream;
    OwnedHandle<cuda::Event> last;  // behind the last send
    std::vector<OwnedHandle<cuda::Event>> events;
    std::size_t used = 0;
  };
  void open(Edge& edge, int side, int peer, ControlLine& line);
  void warm_up(Edge& edge, int side, DeviceAddress data);
  void check(cuda::Result result, const std::string& what) const;

  const Nccl& nccl_;
  const GpuParts& parts_;
  GpuPart part_;
  std::map<int, Edge> out_;  // by peer
  std::map<int, Edge> in_;
  bool aborted_ = false;
};

}  // namespace debubble::live
