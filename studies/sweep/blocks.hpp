// Blocks: a long numbered list of work, cut into blocks that several workers do and one reader takes in order.
//
//     worker A    0 ─────►   2 ──►      4 ──► ...
//     worker B      1 ──►      3 ────────►            reader:  0 1 2 3 4 ...
//
// A worker that is far ahead waits, so that only a bounded number of finished blocks is kept: memory is constant,
// however long the list. Which worker does which block changes nothing of what the reader gets.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "studies/sweep/block.hpp"

namespace debubble {

// Rows of a block: first <= row < end.
struct BlockRange {
  std::int64_t number = 0;
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::string task{};  // what is to be done, where the rows do not say it (studies/plan/over_mpi.hpp)
};

// Where workers get blocks from, and where they leave them done. Safe to call from any thread.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  // Waits until there is a block to do; nothing: there is nothing left.
  [[nodiscard]] virtual std::optional<BlockRange> take() = 0;
  virtual void put(const BlockRange& block, SweepBlock result) = 0;
  // What ends the whole work.
  virtual void fail(std::exception_ptr error) = 0;
  // From now on there is nothing left.
  virtual void stop() = 0;
};

// Where rank 0 gets the blocks of the other ranks from, too.
class BlockDealer : public BlockSource {
 public:
  // `take` without waiting: nothing for now.
  [[nodiscard]] virtual std::optional<BlockRange> take_now() = 0;
  // Of a worker that is lost: somebody else does it.
  virtual void give_back(const BlockRange& block) = 0;
};

class BlockBoard final : public BlockDealer {
 public:
  // Rows from `first` to `end`, `size` in a block; at most `ahead` blocks beyond the reader's are under way or kept.
  BlockBoard(std::int64_t first, std::int64_t end, std::int64_t size, std::int64_t ahead);

  [[nodiscard]] std::optional<BlockRange> take() override;
  [[nodiscard]] std::optional<BlockRange> take_now() override;
  void put(const BlockRange& block, SweepBlock result) override;
  void give_back(const BlockRange& block) override;

  void fail(std::exception_ptr error) override;  // `next` throws it
  void stop() override;

  // The reader's side: the next block in order, waited for so long at most.
  [[nodiscard]] std::optional<SweepBlock> next(std::chrono::milliseconds patience);
  [[nodiscard]] bool finished();

 private:
  [[nodiscard]] std::optional<BlockRange> take_locked();
  [[nodiscard]] BlockRange range_of(std::int64_t number) const;

  const std::int64_t first_;
  const std::int64_t end_;
  const std::int64_t size_;
  const std::int64_t blocks_;
  const std::int64_t ahead_;
  std::mutex mutex_;
  std::condition_variable workers_;
  std::condition_variable reader_;
  std::int64_t next_taken_ = 0;
  std::int64_t next_read_ = 0;
  std::set<std::int64_t> returned_;
  std::map<std::int64_t, SweepBlock> done_;
  bool stopped_ = false;
  std::exception_ptr failed_;
};

}  // namespace debubble
