// NcclTransport: tensors travel from GPU to GPU over NCCL, and in front of each a message over MPI that says what
// comes.
//
//     sender     op ends ─► ncclSend on the edge's stream, then the message
//     receiver                    message arrives ─► ncclRecv on the edge's stream ─► event ─► the tensor is there
//
// So a receive is posted only when its send is, in the order of sending: both ends of an edge always agree, and no
// kernel spins on the GPU while its peer is at work. Used by the thread that works; `poll` must be called while an op
// runs, so that tensors arrive meanwhile.
//
// In the iteration that checks bytes (hashes_bytes) both ends read the tensor back to the host: the sender sums it up
// after the op, the receiver hands its bytes to the runner at the op that uses them. In all others the chain value,
// which travels after the payload, represents the tensor.
#pragma once

#include <deque>
#include <map>
#include <tuple>

#include "live/cuda/stage_work.hpp"
#include "live/device_runner.hpp"
#include "live/job.hpp"
#include "live/mpi/mailbox.hpp"
#include "live/mpi/nccl_edges.hpp"

namespace debubble::live {

class NcclTransport final : public Transport {
 public:
  NcclTransport(const Job& job, Mailbox& mailbox, NcclEdges& edges, StageWork& work, WorkDevice& device, WallClock now)
      : job_(job), mailbox_(mailbox), edges_(edges), work_(work), device_(device), now_(std::move(now)) {}

  void send(std::int32_t to, Message message) override;
  [[nodiscard]] Message receive(Message::Kind kind, const Tensor& tensor, std::int32_t from,
                                std::int32_t iteration) override;
  void at(std::int32_t position) override { mailbox_.at(position); }
  // Also waits until all that was sent has left: the next iteration writes to the same buffers.
  void barrier() override;
  [[nodiscard]] bool stopped() const override { return mailbox_.stopped(); }

  // Posts the receives of what has been announced, and looks which have ended. Throws Stalled.
  void poll();

 private:
  struct Pending {
    Message message;
    cuda::Event event = nullptr;
  };
  using Key = std::tuple<Tensor, std::int32_t>;  // iteration
  static constexpr std::size_t kMostPosted = 64;

  void post(Message message);
  void finish(Message message);

  void sum_up(Message& message, DeviceAddress data);

  const Job& job_;
  Mailbox& mailbox_;
  NcclEdges& edges_;
  StageWork& work_;
  WorkDevice& device_;
  WallClock now_;
  std::deque<Message> announced_;
  std::map<int, std::deque<Pending>> posted_;  // by peer
  std::map<Key, Message> here_;
  int polls_ = 0;
};

}  // namespace debubble::live
