// Which sends and receives of a rank carry which op's output or input.
//
//     ... F3 | send | recv | B1 ...     a send is of the op before it, a receive for the op behind it, unless a range
//             -> out of F3 -> into B1   around them says its direction (recv_forward), or it lies within an op
//
// Known are, from best to least: ranges of torch.distributed and NCCL; functions that send and receive (which run
// without doing so at the ends of a pipeline); NCCL's kernels alone, which tell no direction: as many as the two ops
// need are theirs in order, one for two is both, anything else stays unplaced.
#pragma once

#include <optional>
#include <vector>

#include "formats/importers/recovery/find_ops.hpp"

namespace debubble {

struct FoundEnd {
  std::int32_t op = 0;  // whose output it sends or whose input it receives, as place in FoundOps::ops
  bool sends = false;
  bool certain = false;  // seen to be done, not only that the function ran
  bool shared = false;   // one kernel for a send and a receive
  bool arrival = false;  // of a receive: the host's range ends when the tensor is there
  bool on_gpu = false;
  Nanoseconds begin = 0;  // on the host
  Nanoseconds end = 0;
  Nanoseconds gpu_begin = 0;
  Nanoseconds gpu_end = 0;
};

struct FoundEnds {
  std::vector<FoundEnd> ends;
  bool directed = false;  // by functions whose names say what they carry
  bool kernels_only = false;
  std::int64_t unplaced = 0;
};

// `first`, `last`: whether the rank is at an end of its pipeline, for kernels alone; nothing where that is unknown.
struct PipelineEnds {
  bool first = false;
  bool last = false;
};
[[nodiscard]] FoundEnds find_ends(const RankEvents& events, const std::vector<FoundOp>& ops,
                                  const std::optional<PipelineEnds>& place);

}  // namespace debubble
