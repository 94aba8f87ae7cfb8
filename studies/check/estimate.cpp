#include "studies/check/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
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

constexpr std::size_t kDraws = 2000;

// The middle 95 % of what `draw` gives.
template <typename Draw>
std::pair<double, double> bootstrap(const Draw& draw) {
  constexpr std::size_t kTail = kDraws / 40;  // 2.5 %
  Draws draws;
  std::vector<double> medians;
  medians.reserve(kDraws);
  for (std::size_t k = 0; k < kDraws; ++k) medians.push_back(draw(draws));
  std::sort(medians.begin(), medians.end());
  return {medians[kTail], medians[kDraws - 1 - kTail]};
}

// The median of as many values as there are, drawn with replacement. `sample` is scratch.
double median_of_draw(std::span<const double> values, Draws& draws, std::vector<double>& sample) {
  sample.resize(values.size());
  for (double& value : sample) value = values[draws.below(values.size())];
  return middle(sample);
}

// From here on (the sign test) the range of the medians covers more than 95 %, without its two ends too.
constexpr std::size_t kManyGroups = 9;

}  // namespace

double median(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  return middle(copy);
}

ErrorEstimate estimate(std::span<const double> errors) {
  if (errors.size() < static_cast<std::size_t>(kFewRepetitions)) {
    const auto [low, high] = std::minmax_element(errors.begin(), errors.end());
    return {median(errors), *low, *high};
  }
  std::vector<double> sample;
  const auto [low, high] = bootstrap([&](Draws& draws) { return median_of_draw(errors, draws, sample); });
  return {median(errors), low, high};
}

ErrorEstimate estimate(std::span<const std::vector<double>> groups) {
  if (groups.size() == 1) return estimate(groups.front());
  std::vector<double> centres;
  for (const std::vector<double>& group : groups) centres.push_back(median(group));
  std::vector<double> sample;
  std::vector<double> drawn(groups.size());
  const auto [low, high] = bootstrap([&](Draws& draws) {
    for (double& one : drawn) one = median_of_draw(groups[draws.below(groups.size())], draws, sample);
    return middle(drawn);
  });
  ErrorEstimate result{median(centres), low, high};
  if (groups.size() >= kManyGroups) return result;
  const auto [least, largest] = std::minmax_element(centres.begin(), centres.end());
  result.low = std::min(result.low, *least);
  result.high = std::max(result.high, *largest);
  return result;
}

Verdict judge(const ErrorEstimate& error, double tolerance) {
  if (error.low > tolerance || error.high < -tolerance) return Verdict::kFail;
  return std::abs(error.median) > tolerance ? Verdict::kWarn : Verdict::kPass;
}

}  // namespace debubble
