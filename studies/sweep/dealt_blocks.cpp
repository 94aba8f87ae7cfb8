#include "studies/sweep/dealt_blocks.hpp"

#include <utility>

namespace debubble {

std::optional<BlockRange> DealtBlocks::take() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [&] { return stopped_ || !waiting_.empty(); });
  if (stopped_) return std::nullopt;
  const BlockRange range = waiting_.front();
  waiting_.pop_front();
  return range;
}

void DealtBlocks::put(const BlockRange& range, SweepBlock block) {
  const std::lock_guard lock(mutex_);
  done_.push_back({range, std::move(block)});
}

void DealtBlocks::fail(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    if (failed_ == nullptr) failed_ = std::move(error);
    stopped_ = true;
  }
  arrived_.notify_all();
}

void DealtBlocks::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  arrived_.notify_all();
}

void DealtBlocks::add(const BlockRange& range) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(range);
  }
  arrived_.notify_one();
}

std::optional<DealtBlocks::Done> DealtBlocks::next_done() {
  const std::lock_guard lock(mutex_);
  if (failed_ != nullptr) std::rethrow_exception(failed_);
  if (done_.empty()) return std::nullopt;
  Done done = std::move(done_.front());
  done_.pop_front();
  return done;
}

}  // namespace debubble
