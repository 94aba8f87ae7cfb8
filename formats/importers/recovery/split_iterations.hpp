// Which iteration and microbatch each op of each rank is of.
//
// An iteration is one of the trace's steps, else what lies between two runs of the optimizer, else, without either, as
// many forwards as the rank with the fewest such points runs between two points at which every forward has had its
// backward (on the first rank of a pipeline those are the ends of iterations). Whole are those with as many forwards,
// and as many backwards, as most have. A microbatch is the number in the op's name, else the place of its forward in
// the iteration; of a backward that of the forward whose autograd nodes ran, else its own place.
#pragma once

#include <string>
#include <vector>

#include "formats/importers/recovery/find_ops.hpp"

namespace debubble {

struct SplitRun {
  enum class By : std::uint8_t { kSteps, kOptimizer, kRepetition };
  By by = By::kSteps;
  enum class Microbatches : std::uint8_t { kOrder, kSequence, kName };
  Microbatches microbatches = Microbatches::kName;  // the least sure of all ops
  std::int32_t count = 0;                           // microbatches of one iteration
  std::vector<std::vector<std::string>> names;      // of each rank's iterations; FoundOp::step points here
  std::int64_t partial = 0;                         // iterations that are not whole, over all ranks
};

// Throws InputError D006 where nothing tells iterations apart or none is whole, D010 where ranks have different numbers
// of microbatches.
[[nodiscard]] SplitRun split_iterations(const std::vector<RankEvents>& events, std::vector<FoundOps>& found);

}  // namespace debubble
