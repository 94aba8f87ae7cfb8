// The threads of one process that do the blocks of a sweep which several processes share.
//
// These are threads of our own, not tasks of oneTBB as in pipeline.hpp: where another process has the last open blocks,
// they wait for what it may give back, and a task that waits holds a thread that is not its own.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "studies/sweep/block.hpp"
#include "studies/sweep/blocks.hpp"

namespace debubble {

// Does one block. Each thread has its own.
using BlockWorker = std::function<SweepBlock(const BlockRange& block)>;
using MakeBlockWorker = std::function<BlockWorker()>;

// Of a sweep. Both must outlive it.
[[nodiscard]] MakeBlockWorker sweep_workers(const SweepSpace& space, const SweepForm& form);

class SweepCrew {
 public:
  // Each of the threads takes blocks from the source until there is none, and puts them back done. All three must
  // outlive the crew.
  SweepCrew(BlockSource& source, const SweepSpace& space, const SweepForm& form, int threads);
  SweepCrew(BlockSource& source, const MakeBlockWorker& make_worker, int threads);
  // Stops the source and waits for what is being done.
  ~SweepCrew();
  SweepCrew(const SweepCrew&) = delete;
  SweepCrew& operator=(const SweepCrew&) = delete;

 private:
  BlockSource& source_;
  std::vector<std::jthread> threads_;
};

// How many rows make a block, so that every thread gets many of them, and few of them cost a switch.
[[nodiscard]] std::int64_t rows_per_block(std::int64_t rows, int threads);

}  // namespace debubble
