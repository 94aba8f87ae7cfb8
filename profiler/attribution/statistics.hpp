// Statistics of measured durations: nearest-rank percentiles, so that every figure was really measured.
//
//     rank of the q-th percentile of n values = ceil(q n / 100), counted from 1      median: q = 50
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/core/profile.hpp"

namespace debubble::attribution {

// All zero, n = 0, for no values.
[[nodiscard]] TimeStatistics statistics_of(std::vector<Nanoseconds> values);

// The nearest-rank median; 0 for no values.
[[nodiscard]] std::int64_t median_of(std::vector<std::int64_t> values);

// (later / earlier - 1) in parts per million; absent when `earlier` is not positive.
[[nodiscard]] std::optional<std::int64_t> change_ppm(Nanoseconds earlier, Nanoseconds later);

}  // namespace debubble::attribution
