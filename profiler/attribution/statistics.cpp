#include "profiler/attribution/statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace debubble::attribution {
namespace {

// Of a sorted list that is not empty.
std::int64_t percentile(const std::vector<std::int64_t>& sorted, std::size_t percent) {
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

TimeStatistics statistics_of(std::vector<Nanoseconds> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {percentile(values, 50), percentile(values, 10), percentile(values, 90),
          static_cast<std::int64_t>(values.size())};
}

std::int64_t median_of(std::vector<std::int64_t> values) { return statistics_of(std::move(values)).median; }

std::optional<std::int64_t> change_ppm(Nanoseconds earlier, Nanoseconds later) {
  constexpr std::int64_t kMillion = 1'000'000;
  std::int64_t scaled = 0;
  if (earlier <= 0 || __builtin_mul_overflow(later - earlier, kMillion, &scaled)) return std::nullopt;
  return scaled / earlier;
}

}  // namespace debubble::attribution
