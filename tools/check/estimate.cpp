#include "tools/check/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace debubble {
namespace {

// SplitMix64 (Steele, Lea and Flood 2014): the standard library's distributions differ between libraries.
class Draws {
 public:
  // From 0 to `count` - 1; the bias of the remainder is below 2^-40 for any number of repetitions.
  std::size_t below(std::size_t count) {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<std::size_t>((z ^ (z >> 31)) % count);
  }

 private:
  std::uint64_t state_ = 0x6465627562626c65;
};

double middle(std::vector<double>& values) {
  const std::size_t half = values.size() / 2;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(half);
  std::nth_element(values.begin(), at, values.end());
  if (values.size() % 2 == 1) return *at;
  return (*std::max_element(values.begin(), at) + *at) / 2;
}

}  // namespace

double median(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  return middle(copy);
}

ErrorEstimate estimate(std::span<const double> errors) {
  constexpr std::size_t kDraws = 2000;
  constexpr std::size_t kTail = kDraws / 40;  // 2.5 %
  ErrorEstimate result{median(errors), errors.front(), errors.front()};
  if (errors.size() < static_cast<std::size_t>(kFewRepetitions)) {
    const auto [low, high] = std::minmax_element(errors.begin(), errors.end());
    return {result.median, *low, *high};
  }
  Draws draws;
  std::vector<double> medians;
  std::vector<double> sample(errors.size());
  for (std::size_t k = 0; k < kDraws; ++k) {
    for (double& value : sample) value = errors[draws.below(errors.size())];
    medians.push_back(middle(sample));
  }
  std::sort(medians.begin(), medians.end());
  result.low = medians[kTail];
  result.high = medians[kDraws - 1 - kTail];
  return result;
}

Verdict judge(const ErrorEstimate& error, double tolerance) {
  if (error.low > tolerance || error.high < -tolerance) return Verdict::kFail;
  return std::abs(error.median) > tolerance ? Verdict::kWarn : Verdict::kPass;
}

}  // namespace debubble
