// PiecesBoard: independent pieces of work that the threads of this process and other processes do, each piece once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "studies/sweep/blocks.hpp"

namespace debubble {

// Safe to use from any thread.
class PiecesBoard final : public BlockDealer {
 public:
  // Piece k has the number first + k among all that were ever dealt out. `ask` writes what another process is to do,
  // `take` reads what came back; both are called by whoever deals. Without `ask` none is dealt.
  PiecesBoard(std::int64_t first, std::size_t pieces, std::function<std::string(std::size_t)> ask,
              std::function<void(std::size_t, const std::string&)> take);

  [[nodiscard]] std::optional<BlockRange> take_now() override;
  // What comes too late, because somebody else has done it or is at it, is dropped.
  void put(const BlockRange& block, SweepBlock result) override;
  void give_back(const BlockRange& block) override;
  void fail(std::exception_ptr error) override;
  void stop() override { fail(nullptr); }
  [[nodiscard]] std::optional<BlockRange> take() override;

  // A thread of this process: does pieces until all are done, by whomever.
  void do_here(const std::function<void(std::size_t)>& work);
  [[nodiscard]] bool finished();
  // Until all are done, or so long.
  void wait_for(std::chrono::microseconds time);
  // Throws what a piece has thrown.
  void rethrow();

 private:
  enum class State : std::uint8_t { kOpen, kHere, kElsewhere, kDone };

  [[nodiscard]] std::optional<std::size_t> next_open();
  [[nodiscard]] std::optional<std::size_t> index_of(const BlockRange& block) const;
  [[nodiscard]] bool is_over() const { return done_ == states_.size() || stopped_; }
  void finish(std::size_t k);

  const std::int64_t first_;
  const std::function<std::string(std::size_t)> ask_;
  const std::function<void(std::size_t, const std::string&)> take_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<State> states_;
  std::size_t first_open_ = 0;  // none before it is open
  std::size_t done_ = 0;
  bool stopped_ = false;
  std::exception_ptr failed_;
};

}  // namespace debubble
