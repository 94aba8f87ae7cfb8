#include "sim/core/suggest.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "sim/core/words.hpp"

namespace debubble {

namespace {

// Letters added, left out, replaced, or swapped with the next; row by row. Capitals count as their small letters: 1F1B
// means 1f1b.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  const auto same = [&](std::size_t i, std::size_t j) { return lower_case(left[i - 1]) == lower_case(right[j - 1]); };
  const bool swaps = left.size() > 2;  // "no" does not mean on
  std::vector<std::size_t> before;     // the row before the last one
  std::vector<std::size_t> last(right.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::vector<std::size_t> row(right.size() + 1, i);
    for (std::size_t j = 1; j <= right.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same(i, j) ? 0 : 1)});
      if (swaps && i > 1 && j > 1 && same(i, j - 1) && same(i - 1, j)) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, std::move(row));
  }
  return last[right.size()];
}

// "h100" of "dgx-h100".
bool is_end(std::string_view one, std::string_view other) {
  constexpr std::size_t kLeast = 3;
  if (one.size() < kLeast || one.size() >= other.size() || one.front() == '-') return false;
  const std::size_t before = other.size() - one.size();
  return other[before - 1] == '-' && edit_distance(one, other.substr(before)) == 0;
}

// "a100" of "a100-80".
bool is_beginning(std::string_view one, std::string_view other) {
  constexpr std::size_t kLeast = 3;
  if (one.size() < kLeast || one.size() >= other.size() || one.front() == '-') return false;
  return (other[one.size()] == '-' || other[one.size()] == '_') && edit_distance(one, other.substr(0, one.size())) == 0;
}

}  // namespace

std::string closest_name(std::string_view typed, std::span<const std::string> candidates) {
  // A third of the letters may be wrong, but always one: "zbh1" means zb-h1, "xyz" means nothing we know.
  const std::size_t tolerance = std::max<std::size_t>(1, typed.size() / 3);
  constexpr std::size_t kLongestName = 64;  // nobody mistypes a name by this much; bounds the work on hostile input
  std::size_t best = std::numeric_limits<std::size_t>::max();
  std::string result;
  if (typed.size() > kLongestName) return result;
  for (const std::string& candidate : candidates) {
    if (edit_distance(typed, candidate) == 0) return candidate;
  }
  for (const std::string& candidate : candidates) {
    if (is_beginning(typed, candidate)) return candidate;  // "A100" means a100-80 rather than v100
  }
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(typed, candidate);
    if (distance <= tolerance && distance < best) {
      best = distance;
      result = candidate;
    }
  }
  if (!result.empty()) return result;
  for (const std::string& candidate : candidates) {
    if (is_end(typed, candidate) || is_beginning(candidate, typed)) return candidate;  // "h100-sxm" means h100
  }
  return result;
}

}  // namespace debubble
