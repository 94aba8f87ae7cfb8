// The sweep of one process: oneTBB's pipeline cuts rows into blocks, has them done on several threads and hands them on
// in order. A block that is slow holds up the others after so many, so memory is constant however many rows there are.
#pragma once

#include <cstdint>
#include <functional>

#include "studies/sweep/block.hpp"
#include "studies/sweep/crew.hpp"

namespace debubble {

// Rows from `first` to `end`, `per_block` in a block.
struct PipedRows {
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::int64_t per_block = 1;
};

// At most this many blocks for each thread are under way or wait for one before them.
inline constexpr std::int64_t kBlocksAhead = 8;

// `take` gets the blocks in order, one at a time, from whichever thread; before each new block `goes_on` is asked, by
// any thread. What the first block in order throws, or `take`, comes out when all that are under way have ended;
// nothing after it is taken. Throws UnavailableError E016 where so many threads cannot be started.
void pipe_blocks(const PipedRows& rows, int threads, const MakeBlockWorker& make_worker,
                 const std::function<bool()>& goes_on, const std::function<void(const SweepBlock&)>& take);

}  // namespace debubble
