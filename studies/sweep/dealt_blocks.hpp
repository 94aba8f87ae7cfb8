// The blocks of a process other than rank 0: what came for its threads, and what they have done.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>

#include "studies/sweep/blocks.hpp"

namespace debubble {

class DealtBlocks final : public BlockSource {
 public:
  struct Done {
    BlockRange range;
    SweepBlock block;
  };

  std::optional<BlockRange> take() override;
  void put(const BlockRange& range, SweepBlock block) override;
  void fail(std::exception_ptr error) override;
  void stop() override;

  void add(const BlockRange& range);
  // Throws what a thread has thrown.
  [[nodiscard]] std::optional<Done> next_done();

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<BlockRange> waiting_;
  std::deque<Done> done_;
  std::exception_ptr failed_;
  bool stopped_ = false;
};

}  // namespace debubble
