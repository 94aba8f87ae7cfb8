// Medians and percentiles that are one of the values: of an even number of them there are two in the middle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace debubble {

// The value with `rank` values before it when they are sorted; `values` may not be empty.
template <typename T>
[[nodiscard]] T value_at_rank(std::vector<T> values, std::size_t rank) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Of two in the middle the larger; a default value (0) of none.
template <typename T>
[[nodiscard]] T upper_median(std::vector<T> values) {
  const std::size_t count = values.size();
  return count == 0 ? T{} : value_at_rank(std::move(values), count / 2);
}

// Of two in the middle the smaller; a default value (0) of none.
template <typename T>
[[nodiscard]] T lower_median(std::vector<T> values) {
  const std::size_t count = values.size();
  return count == 0 ? T{} : value_at_rank(std::move(values), (count - 1) / 2);
}

// The value with `tenths` tenths of all others at or below it (nearest rank); a default value (0) of none.
template <typename T>
[[nodiscard]] T tenths_percentile(std::vector<T> values, std::size_t tenths) {
  if (values.empty()) return T{};
  const std::size_t rank = std::clamp<std::size_t>((values.size() * tenths + 9) / 10, 1, values.size());
  return value_at_rank(std::move(values), rank - 1);
}

}  // namespace debubble
