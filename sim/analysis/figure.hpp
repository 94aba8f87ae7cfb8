// A number of a predicted and of a measured run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace debubble {

// `low` and `high` are the 10th and 90th percentile over the measured iterations, `median` the lower median.
template <typename T>
struct Figure {
  T predicted{};
  T measured{};
  T low{};
  T high{};
  T median{};
  [[nodiscard]] T gap() const { return measured - predicted; }
};

// The value with `tenths` tenths of all at or below it (nearest rank); `sorted` is, and not empty.
template <typename T>
[[nodiscard]] T tenths_percentile(const std::vector<T>& sorted, std::size_t tenths) {
  const std::size_t rank = (sorted.size() * tenths + 9) / 10;
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

// `all`: the values that the percentiles are of.
template <typename T>
[[nodiscard]] Figure<T> make_figure(T predicted, T measured, std::vector<T> all) {
  std::sort(all.begin(), all.end());
  return {predicted, measured, tenths_percentile(all, 1), tenths_percentile(all, 9), tenths_percentile(all, 5)};
}

}  // namespace debubble
