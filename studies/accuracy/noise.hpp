// Noise: how far apart measurements of the same set-up are, which no prediction can be better than.
#pragma once

#include <optional>
#include <vector>

#include "studies/accuracy/results_file.hpp"

namespace debubble {

// Records of one source with the same flags, and a step time each.
struct RepeatedSetup {
  std::vector<const ResultRecord*> records;  // two or more, by id
  double ratio = 1;                          // of the longest step to the shortest
};

struct Noise {
  std::vector<RepeatedSetup> setups;  // by the id of their first record
  double median = 1;                  // of the ratios; of an even number the mean of the two in the middle
  double largest = 1;
};

// Nothing where no set-up was measured twice.
[[nodiscard]] std::optional<Noise> noise_of(const std::vector<const ResultRecord*>& records);

[[nodiscard]] std::optional<double> measured_step(const ResultRecord& record);  // seconds

// Of an even number the mean of the two in the middle; `values` must not be empty.
[[nodiscard]] double median_of(std::vector<double> values);

}  // namespace debubble
