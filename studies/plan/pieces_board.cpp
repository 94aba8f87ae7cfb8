#include "studies/plan/pieces_board.hpp"

#include <algorithm>
#include <utility>

namespace debubble {

PiecesBoard::PiecesBoard(std::int64_t first, std::size_t pieces, std::function<std::string(std::size_t)> ask,
                         std::function<void(std::size_t, const std::string&)> take)
    : first_(first), ask_(std::move(ask)), take_(std::move(take)), states_(pieces, State::kOpen) {}

std::optional<std::size_t> PiecesBoard::next_open() {
  while (first_open_ < states_.size() && states_[first_open_] != State::kOpen) ++first_open_;
  if (first_open_ == states_.size()) return std::nullopt;
  return first_open_;
}

std::optional<std::size_t> PiecesBoard::index_of(const BlockRange& block) const {
  const std::int64_t k = block.number - first_;
  if (k < 0 || k >= static_cast<std::int64_t>(states_.size())) return std::nullopt;  // of an earlier board
  return static_cast<std::size_t>(k);
}

void PiecesBoard::finish(std::size_t k) {
  states_[k] = State::kDone;
  ++done_;
  changed_.notify_all();
}

std::optional<BlockRange> PiecesBoard::take_now() {
  if (!ask_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const std::optional<std::size_t> k = stopped_ ? std::nullopt : next_open();
  if (!k) return std::nullopt;
  states_[*k] = State::kElsewhere;
  const std::int64_t number = first_ + static_cast<std::int64_t>(*k);
  return BlockRange{number, number, number + 1, ask_(*k)};
}

void PiecesBoard::put(const BlockRange& block, SweepBlock result) {
  const std::lock_guard lock(mutex_);
  const std::optional<std::size_t> k = index_of(block);
  if (!k || states_[*k] == State::kDone || states_[*k] == State::kHere) return;
  take_(*k, result.lines);
  finish(*k);
}

void PiecesBoard::give_back(const BlockRange& block) {
  const std::lock_guard lock(mutex_);
  const std::optional<std::size_t> k = index_of(block);
  if (!k || states_[*k] != State::kElsewhere) return;
  states_[*k] = State::kOpen;
  first_open_ = std::min(first_open_, *k);
  changed_.notify_all();
}

void PiecesBoard::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (failed_ == nullptr) failed_ = std::move(error);
  stopped_ = true;
  changed_.notify_all();
}

std::optional<BlockRange> PiecesBoard::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_over() || next_open(); });
  const std::optional<std::size_t> k = is_over() ? std::nullopt : next_open();
  if (!k) return std::nullopt;
  states_[*k] = State::kHere;
  const std::int64_t number = first_ + static_cast<std::int64_t>(*k);
  return BlockRange{number, number, number + 1};
}

void PiecesBoard::do_here(const std::function<void(std::size_t)>& work) {
  try {
    while (const std::optional<BlockRange> piece = take()) {
      const auto k = static_cast<std::size_t>(piece->number - first_);
      work(k);
      const std::lock_guard lock(mutex_);
      finish(k);
    }
  } catch (...) {
    fail(std::current_exception());
  }
}

bool PiecesBoard::finished() {
  const std::lock_guard lock(mutex_);
  return is_over();
}

void PiecesBoard::wait_for(std::chrono::microseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [&] { return is_over(); });
}

void PiecesBoard::rethrow() {
  const std::lock_guard lock(mutex_);
  if (failed_ != nullptr) std::rethrow_exception(failed_);
}

}  // namespace debubble
