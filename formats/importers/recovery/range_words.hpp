// What the names of ranges in recordings of pipeline training mean, where they are not PP: names.
//
//     forward_step, backward_step, recv_forward, send_forward_recv_backward, ...   Megatron-LM's functions (NVTX), with
//                                                                                  or without module and class before
//     forward-compute, backward-compute, forward-recv, ...                         Megatron-LM's timers as ranges
//     ForwardPass, BackwardPass, SendActivation, RecvGrad, _exec_forward_pass, ... DeepSpeed's pipeline instructions
//     Forward 3, Backward 3                                                        torch.distributed.pipelining's GPipe
//     c10d::send, nccl:recv 1<-0, gloo:send, ncclSend, ...                         torch.distributed and NCCL
//     nccl:all_to_all, c10d::allreduce_, ...                                       collectives, no ends of transfers
//     autograd::engine::evaluate_function: AddmmBackward0                          PyTorch's autograd
//     ProfilerStep#12, iteration 12, Optimizer.step#SGD.step, OptimizerStep        iterations and what ends them
//
// A number behind an op's name is its microbatch. PyTorch's emit_nvtx adds ", seq = 7, op_id = 9", which is cut off.
#pragma once

#include <cstdint>
#include <string_view>

namespace debubble {

// Which ends of which transfers a range may hold. Forward: of an activation; backward: of a gradient.
inline constexpr std::uint8_t kSendsForward = 1;
inline constexpr std::uint8_t kReceivesForward = 2;
inline constexpr std::uint8_t kSendsBackward = 4;
inline constexpr std::uint8_t kReceivesBackward = 8;
inline constexpr std::uint8_t kSends = kSendsForward | kSendsBackward;
inline constexpr std::uint8_t kReceives = kReceivesForward | kReceivesBackward;

struct RangeMeaning {
  enum class Kind : std::uint8_t {
    kNone,
    kForward,
    kBackward,
    kDirected,    // a transfer whose function is named: `ends` are those it may have
    kTransfer,    // torch.distributed's or NCCL's own: `ends` says whether it sends or receives
    kCollective,  // of several ranks; all_to_all launches kernels of the same name as send and receive
    kNode,        // a node of the autograd graph at work
    kIteration,   // lasts as long as an iteration
    kOptimizer,   // ends one
  };
  Kind kind = Kind::kNone;
  std::uint8_t ends = 0;
  bool completes = false;        // of kTransfer: the range lasts until the tensor has travelled (gloo, mpi)
  bool dispatched = false;       // of kTransfer: torch.distributed's call, around what its backend records, if it does
  std::int32_t microbatch = -1;  // of ops: the number behind the name; -1: none
  std::int32_t self = -1;        // of kTransfer: the ranks in "nccl:send 0->1"; -1: not named
  std::int32_t peer = -1;
};

[[nodiscard]] RangeMeaning meaning_of(std::string_view name);

// Of a kIteration range: its name without what leads there, "iteration 12". ASCII, whatever the text is.
[[nodiscard]] std::string_view iteration_name(std::string_view name);

// Of a kNode range: "AddmmBackward0" of "autograd::engine::evaluate_function: AddmmBackward0".
[[nodiscard]] std::string_view node_in(std::string_view name);

// The sequence number in emit_nvtx's "aten::mm, seq = 7, op_id = 9"; -1 for none.
[[nodiscard]] std::int64_t sequence_in(std::string_view name);

// Whether a kernel of this name moves tensors between two ranks, or between several.
[[nodiscard]] bool is_send_recv_kernel(std::string_view name);
[[nodiscard]] bool is_collective_kernel(std::string_view name);

}  // namespace debubble
