// The two units of debubble: time in whole nanoseconds, memory in whole bytes.
//
// Everything inside is an integer, so results are exact, compare equal on every machine, and do not depend on the
// order of additions. Text such as "1.5ms" or "80GiB" is converted once, where it enters (sim/core/quantities.hpp).
#pragma once

#include <cstdint>

namespace debubble {

using Nanoseconds = std::int64_t;
using Bytes = std::int64_t;

inline constexpr Nanoseconds kNanosecondsPerMillisecond = 1'000'000;
inline constexpr Bytes kMebibyte = Bytes{1} << 20;

// The longest duration and the largest size any single input may have. Both leave room to add up millions of them
// without overflow; `simulate` checks the whole sum before it starts.
inline constexpr Nanoseconds kLongestDuration = Nanoseconds{1} << 52;  // about 52 days
inline constexpr Bytes kLargestSize = Bytes{1} << 52;                  // 4 PiB

}  // namespace debubble
