// A number of a predicted and of a measured run.
#pragma once

#include <vector>

#include "sim/core/median.hpp"

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

// `all`: the values that the percentiles are of.
template <typename T>
[[nodiscard]] Figure<T> make_figure(T predicted, T measured, const std::vector<T>& all) {
  return {predicted, measured, tenths_percentile(all, 1), tenths_percentile(all, 9), tenths_percentile(all, 5)};
}

}  // namespace debubble
