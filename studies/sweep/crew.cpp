#include "studies/sweep/crew.hpp"

#include <algorithm>
#include <exception>

namespace debubble {

namespace {

void do_blocks(BlockSource& source, const SweepSpace& space, const SweepForm& form) {
  try {
    SweepRunner runner(space);
    while (const std::optional<BlockRange> block = source.take()) {
      source.put(*block, sweep_block(runner, block->first, block->end, form));
    }
  } catch (...) {
    source.fail(std::current_exception());
  }
}

}  // namespace

SweepCrew::SweepCrew(BlockSource& source, const SweepSpace& space, const SweepForm& form, int threads)
    : source_(source) {
  try {
    for (int k = 0; k < threads; ++k) {
      threads_.emplace_back([&source, &space, &form] { do_blocks(source, space, form); });
    }
  } catch (...) {  // no further thread can be started: those that run wait for blocks until they are told
    source.stop();
    throw;
  }
}

SweepCrew::~SweepCrew() { source_.stop(); }

std::int64_t rows_per_block(std::int64_t rows, int threads) {
  constexpr std::int64_t kBlocksPerThread = 16;
  constexpr std::int64_t kMost = 64;
  return std::clamp<std::int64_t>(rows / (kBlocksPerThread * threads), 1, kMost);
}

}  // namespace debubble
