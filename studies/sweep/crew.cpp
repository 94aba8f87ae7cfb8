#include "studies/sweep/crew.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <system_error>

#include "studies/parallel.hpp"

namespace debubble {

namespace {

void do_blocks(BlockSource& source, const MakeBlockWorker& make_worker) {
  try {
    const BlockWorker work = make_worker();
    while (const std::optional<BlockRange> block = source.take()) source.put(*block, work(*block));
  } catch (...) {
    source.fail(std::current_exception());
  }
}

}  // namespace

MakeBlockWorker sweep_workers(const SweepSpace& space, const SweepForm& form) {
  return [&space, &form]() -> BlockWorker {
    return [runner = std::make_shared<SweepRunner>(space), &form](const BlockRange& block) {
      return sweep_block(*runner, block.first, block.end, form);
    };
  };
}

SweepCrew::SweepCrew(BlockSource& source, const SweepSpace& space, const SweepForm& form, int threads)
    : SweepCrew(source, sweep_workers(space, form), threads) {}

SweepCrew::SweepCrew(BlockSource& source, const MakeBlockWorker& make_worker, int threads) : source_(source) {
  try {
    for (int k = 0; k < threads; ++k) {
      threads_.emplace_back([&source, make_worker] { do_blocks(source, make_worker); });
    }
  } catch (const std::system_error&) {  // those that run wait for blocks until they are told
    source.stop();
    fail_to_start(threads);
  } catch (...) {  // they are joined as this leaves
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
