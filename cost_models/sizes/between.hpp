// Between and beyond sizes that were measured: one duration or one number of bytes along one dimension.
//
// A GPU works in waves: a matmul's tiles are handed to the multiprocessors in rounds, and a round that is not full
// takes as long as one that is. So a layer's time is a staircase in its tokens, waves x time of a wave + a fixed part,
// and two measured sizes on either side tell the time of a wave and the fixed part:
//
//     measured   2 waves 25 us, 6 waves 65 us       3 waves in between: 25 + (65 - 25) x (3 - 2) / (6 - 2) = 35 us
//
// Where the waves are not known, the achieved rate (tokens per second) is interpolated on logarithmic axes, which keeps
// the time between its neighbours'. Above the range the efficiency of the largest size holds, below it a fixed part and
// a proportional one. All rules are continuous and give measured points back exactly; where the measured times rise
// with the size, so does what lies between and beyond. Sizes in bytes are polynomials.
#pragma once

#include <vector>

#include "sim/core/units.hpp"

namespace debubble {

enum class SizeAxis { kMicrobatch, kSequence };

// One measured size along an axis, everything else equal.
struct MeasuredPoint {
  double size = 0;   // samples or tokens of a sample; above 0
  double waves = 0;  // of the work at that size, in any unit that is the same for all points; 0: not known
  double value = 0;  // nanoseconds or bytes; from 0 on
};

// The duration at `size`, where the work has `waves` (0: not known). `points` in rising order of size: one that has
// that size, or at least two. Above the range: time per wave as at the largest size; without waves time per token, and
// along the sequence, where attention grows with the square, t = a s + c s^2 through the last two sizes with a, c >= 0.
// Below: t = fixed + time of a wave (or token) x waves through the first two sizes, with both parts >= 0.
[[nodiscard]] double time_between(const std::vector<MeasuredPoint>& points, double size, double waves, SizeAxis axis);

// Whether waves decide there, for the words of a report: they are known at `size` and at every point, and rise.
[[nodiscard]] bool goes_by_waves(const std::vector<MeasuredPoint>& points, double size, double waves);

struct BytesBetween {
  double value = 0;
  bool on_curve = true;  // no measured size contradicts the polynomial
};

// Bytes at `size`, same demands on `points`. Along the microbatch they are a + b n. Along the sequence a parabola
// through the three nearest sizes, or of two sizes s (a + b s) with a, b >= 0, which is what linear layers and kept
// scores of attention take; a straight line where that does not fit. Where other points are off the curve by more than
// 0.01 % (the digits of published sizes): straight lines between neighbours.
[[nodiscard]] BytesBetween bytes_between(const std::vector<MeasuredPoint>& points, double size, SizeAxis axis);

}  // namespace debubble
