// The names by which PyTorch's pipeline runtime labels what it does, and by which we label our own traces.
//
//     PP:0F3   PP:1B2   PP:1I2   PP:1W2     an op
//     PP:(0F3;1B2)OVERLAP_F_B               an overlapped pair
//     PP:0SEND_F3   PP:1RECV_F3             one end of a transfer; its stage is the one at that end
//     PP:1RESHARD   PP:0UNSHARD             beside those: parameters of a sharded model, reductions of gradients, waits
//     PP:1REDUCE_GRAD   PP:0WAIT_SEND_F3    for what was posted
//
// torch/distributed/pipelining/schedules.py, `_Action` and `_ComputationType`.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/core/op.hpp"

namespace debubble {

struct PipelineName {
  enum class Kind : std::uint8_t { kNone, kOp, kSend, kReceive, kBeside, kOther };
  Kind kind = Kind::kNone;  // kNone: no "PP:" name; kOther: one that is none of the above
  // Of a transfer: the op whose output travels. Of a gradient the kind is kBackward, though it may be I that made it.
  Op op;
  Op partner;
  bool paired = false;
};

[[nodiscard]] PipelineName parse_pipeline_name(std::string_view text);

}  // namespace debubble
