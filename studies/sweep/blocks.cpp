#include "studies/sweep/blocks.hpp"

#include <algorithm>
#include <utility>

namespace debubble {

BlockBoard::BlockBoard(std::int64_t first, std::int64_t end, std::int64_t size, std::int64_t ahead)
    : first_(first), end_(end), size_(size), blocks_((end - first + size - 1) / size), ahead_(ahead) {}

BlockRange BlockBoard::range_of(std::int64_t number) const {
  const std::int64_t begin = first_ + number * size_;
  return {number, begin, std::min(end_, begin + size_)};
}

std::optional<BlockRange> BlockBoard::take_locked() {
  if (stopped_) return std::nullopt;
  if (!returned_.empty()) {
    const std::int64_t number = *returned_.begin();
    returned_.erase(returned_.begin());
    return range_of(number);
  }
  if (next_taken_ >= blocks_ || next_taken_ >= next_read_ + ahead_) return std::nullopt;
  return range_of(next_taken_++);
}

std::optional<BlockRange> BlockBoard::take() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (std::optional<BlockRange> block = take_locked()) return block;
    if (stopped_ || next_read_ >= blocks_) return std::nullopt;
    workers_.wait(lock);
  }
}

std::optional<BlockRange> BlockBoard::take_now() {
  const std::lock_guard lock(mutex_);
  return take_locked();
}

void BlockBoard::put(const BlockRange& block, SweepBlock result) {
  {
    const std::lock_guard lock(mutex_);
    if (block.number < next_read_ || done_.contains(block.number)) return;  // somebody else did it meanwhile
    done_.emplace(block.number, std::move(result));
    returned_.erase(block.number);
  }
  reader_.notify_one();
}

void BlockBoard::give_back(const BlockRange& block) {
  {
    const std::lock_guard lock(mutex_);
    if (block.number < next_read_ || done_.contains(block.number)) return;
    returned_.insert(block.number);
  }
  workers_.notify_all();
}

std::optional<SweepBlock> BlockBoard::next(std::chrono::milliseconds patience) {
  std::optional<SweepBlock> result;
  {
    std::unique_lock lock(mutex_);
    reader_.wait_for(lock, patience,
                     [&] { return done_.contains(next_read_) || next_read_ >= blocks_ || failed_ != nullptr; });
    if (failed_ != nullptr) std::rethrow_exception(failed_);
    const auto found = done_.find(next_read_);
    if (found == done_.end()) return std::nullopt;
    result = std::move(found->second);
    done_.erase(found);
    ++next_read_;
  }
  workers_.notify_all();
  return result;
}

bool BlockBoard::finished() {
  const std::lock_guard lock(mutex_);
  return next_read_ >= blocks_;
}

void BlockBoard::fail(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    if (failed_ == nullptr) failed_ = std::move(error);
    stopped_ = true;
  }
  workers_.notify_all();
  reader_.notify_one();
}

void BlockBoard::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  workers_.notify_all();
}

}  // namespace debubble
