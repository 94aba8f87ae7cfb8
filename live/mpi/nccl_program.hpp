// What each rank gives NCCL, and the proof, before anything is launched, that it comes to an end.
//
// Each directed edge has a communicator and a stream at either end. A send and its receive wait for each other: each
// must be the first in its end's queue, and the same tensor, or the edge is stuck for good.
//
//     rank 0   compute  0F0 0F1 ...                    rank 1   from 0   |0F0|0F1|...     the same order at both ends
//              to 1         |0F0|0F1|...                        compute       1F0  1F1
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "live/plan.hpp"

namespace debubble::live {

struct NcclStep {
  enum class Kind : std::uint8_t { kCompute, kSend, kReceive };
  Kind kind = Kind::kCompute;
  std::int32_t position = 0;       // compute: of the cell in the row
  Tensor tensor;                   // of a transfer
  std::int32_t peer = -1;          // likewise
  std::vector<std::size_t> after;  // steps of the same rank that must have ended; its queue's earlier ones always must
};

// By rank. A rank receives on each edge in the order in which its peer sends. For overlapped plans.
using NcclProgram = std::vector<std::vector<NcclStep>>;
[[nodiscard]] NcclProgram nccl_program(const Plan& plan);

// Executes it symbolically. Describes the first step that cannot run: two ends of an edge that want different tensors,
// or what each rank waits for when none can go on; nothing where it ends.
[[nodiscard]] std::optional<std::string> find_nccl_problem(const NcclProgram& program);

}  // namespace debubble::live
