// piece_of for pieces that are not alike: slices of a sequence of which the later ones attend to more tokens.
//
//     shares {3, 2, 1}     a microbatch's 100 ns are 50, 33 and 17 ns of its three pieces
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"

namespace debubble {

// The most that the shares of a microbatch's pieces may add up to, so that no product leaves 64 bits.
inline constexpr std::int64_t kMostShares = 1'000'000'000;

// The part of `value` that a piece of that share takes of `all`, rounded to the nearest unit (half up).
[[nodiscard]] constexpr std::int64_t share_of(std::int64_t value, std::int64_t share, std::int64_t all) {
  return value / all * share + (2 * (value % all) * share + all) / (2 * all);
}

// How the pieces of a microbatch divide what it costs and holds: alike, or by shares.
class PieceShares {
 public:
  PieceShares() = default;
  explicit PieceShares(const Schedule& schedule)
      : pieces_(schedule.pieces),
        shares_(schedule.piece_shares),
        all_(std::accumulate(shares_.begin(), shares_.end(), std::int64_t{0})) {}

  // Pieces of one class cost the same: all of them, or those of the same place in their microbatch.
  [[nodiscard]] int classes() const { return shares_.empty() ? 1 : pieces_; }
  [[nodiscard]] int class_of(std::int32_t piece) const { return shares_.empty() ? 0 : piece % pieces_; }

  [[nodiscard]] std::int64_t part(std::int64_t value, int piece_class) const {
    return shares_.empty() ? piece_of(value, pieces_) : share_of(value, shares_[at(piece_class)], all_);
  }
  // Of what one microbatch's forward and another's backward take together: the mean of their shares.
  [[nodiscard]] std::int64_t pair_part(std::int64_t value, int one, int other) const {
    if (shares_.empty()) return piece_of(value, pieces_);
    return share_of(value, shares_[at(one)] + shares_[at(other)], 2 * all_);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  int pieces_ = 1;
  std::vector<std::int64_t> shares_;  // empty: alike
  std::int64_t all_ = 0;
};

}  // namespace debubble
