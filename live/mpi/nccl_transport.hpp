// NcclTransport: tensors travel from GPU to GPU over NCCL, and in front of each a message over MPI that says what
// comes.
//
//     sender     op ends ─► ncclSend on the edge's stream, then the message
//     receiver                    message arrives ─► ncclRecv on the edge's stream ─► event ─► the tensor is there
//
// So a receive is posted only when its send is, in the order of sending: both ends of an edge always agree, and no
// kernel spins on the GPU while its peer is at work. Used by the thread that works; `poll` must be called while an op
// runs, so that tensors arrive meanwhile.
#pragma once

#include <deque>
#include <map>
#include <tuple>

#include "live/cuda/stage_work.hpp"
#include "live/device_runner.hpp"
#include "live/mpi/mailbox.hpp"
#include "live/mpi/nccl_edges.hpp"

namespace debubble::live {

class NcclTransport final : public Transport {
 public:
  NcclTransport(Mailbox& mailbox, NcclEdges& edges, StageWork& work, WorkDevice& device, WallClock now)
      : mailbox_(mailbox), edges_(edges), work_(work), device_(device), now_(std::move(now)) {}

  void send(std::int32_t to, Message message) override;
  [[nodiscard]] Message receive(Message::Kind kind, const Tensor& tensor, std::int32_t from,
                                std::int32_t iteration) override;
  void at(std::int32_t position) override { mailbox_.at(position); }
  // Also waits until all that was sent has left: the next iteration writes to the same buffers.
  void barrier() override;

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
