#include "cost_models/sizes/between.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <stdexcept>

namespace debubble {
namespace {

using Points = std::vector<MeasuredPoint>;

// The two points that decide at `size`: its neighbours, or beyond the range the two nearest.
struct Pair {
  const MeasuredPoint& low;
  const MeasuredPoint& high;
};

Pair pair_at(const Points& points, double size) {
  if (points.size() < 2) throw std::logic_error("between sizes: one point, and another size is asked for");
  const auto above = std::find_if(points.begin(), points.end(), [&](const MeasuredPoint& p) { return p.size > size; });
  const auto last = points.end() - 1;
  const auto high = above == points.begin() ? points.begin() + 1 : above == points.end() ? last : above;
  return {*(high - 1), *high};
}

const MeasuredPoint* point_at(const Points& points, double size) {
  const auto found = std::find_if(points.begin(), points.end(), [&](const MeasuredPoint& p) { return p.size == size; });
  return found == points.end() ? nullptr : &*found;
}

double line_through(double x0, double y0, double x1, double y1, double x) {
  return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

// Rates interpolated on logarithmic axes: t = t0 (x / x0)^k. A layer that takes no time at one size has no rate.
double by_rate(const MeasuredPoint& low, const MeasuredPoint& high, double size) {
  if (low.value <= 0 || high.value <= 0) return line_through(low.size, low.value, high.size, high.value, size);
  const double exponent = std::log(high.value / low.value) / std::log(high.size / low.size);
  return low.value * std::pow(size / low.size, exponent);
}

// t = fixed + share x work, both parts at least 0, through `low`; and through `high` where that is possible.
double with_fixed_part(double low_work, double low_time, double high_work, double high_time, double work) {
  const double share = std::clamp((high_time - low_time) / (high_work - low_work), 0.0, low_time / low_work);
  return low_time + share * (work - low_work);
}

// t = a s + c s^2 through both, a and c at least 0, exact at `high`.
double linear_and_square(const MeasuredPoint& low, const MeasuredPoint& high, double size) {
  const double low_rate = low.value / low.size;
  const double high_rate = high.value / high.size;
  const double square = std::clamp((high_rate - low_rate) / (high.size - low.size), 0.0, high_rate / high.size);
  return size * (high_rate + square * (size - high.size));
}

double by_waves(const Points& points, const Pair& pair, double size, double waves) {
  const MeasuredPoint& low = pair.low;
  const MeasuredPoint& high = pair.high;
  if (size > points.back().size) return high.value * std::max(1.0, waves / high.waves);
  if (size < points.front().size) {
    return with_fixed_part(low.waves, low.value, high.waves, high.value, std::min(waves, low.waves));
  }
  return line_through(low.waves, low.value, high.waves, high.value, std::clamp(waves, low.waves, high.waves));
}

// The parabola through three points, at x (Lagrange).
double parabola(const MeasuredPoint& a, const MeasuredPoint& b, const MeasuredPoint& c, double x) {
  const auto term = [x](const MeasuredPoint& p, const MeasuredPoint& q, const MeasuredPoint& r) {
    return p.value * ((x - q.size) * (x - r.size)) / ((p.size - q.size) * (p.size - r.size));
  };
  return term(a, b, c) + term(b, c, a) + term(c, a, b);
}

// A curve may miss a measured size by rounding: bytes are whole, and published sizes have few digits.
bool same_bytes(double a, double b) { return std::abs(a - b) <= 1.0 + 1e-4 * std::max(std::abs(a), std::abs(b)); }

template <typename Curve>
bool all_on(const Points& points, const Curve& curve) {
  return std::all_of(points.begin(), points.end(),
                     [&](const MeasuredPoint& p) { return same_bytes(curve(p.size), p.value); });
}

double on_line(const Pair& pair, double size) {
  return line_through(pair.low.size, pair.low.value, pair.high.size, pair.high.value, size);
}

// s (a + b s) through two points with a and b at least 0: without tokens nothing is kept. Nothing where that cannot be.
std::optional<double> from_origin(const Pair& pair, double size) {
  const double low_rate = pair.low.value / pair.low.size;
  const double high_rate = pair.high.value / pair.high.size;
  const double square = (high_rate - low_rate) / (pair.high.size - pair.low.size);
  const double linear = low_rate - square * pair.low.size;
  if (square < 0 || linear < -1e-9 * high_rate) return std::nullopt;
  return size * (low_rate + square * (size - pair.low.size));
}

// Through the pair and the nearest point next to it, if all other points are on that curve.
std::optional<double> on_parabola(const Points& points, const Pair& pair, double size) {
  if (points.size() == 2) return from_origin(pair, size);
  const auto low = static_cast<std::size_t>(&pair.low - points.data());
  const MeasuredPoint& third = low + 2 < points.size() ? points[low + 2] : points[low - 1];
  const auto curve = [&](double x) { return parabola(pair.low, pair.high, third, x); };
  return all_on(points, curve) ? std::optional<double>(curve(size)) : std::nullopt;
}

}  // namespace

bool goes_by_waves(const Points& points, double size, double waves) {
  const MeasuredPoint* measured = point_at(points, size);
  if (measured != nullptr || waves <= 0) return false;
  const Pair pair = pair_at(points, size);
  return pair.low.waves > 0 && pair.high.waves > pair.low.waves;
}

double time_between(const Points& points, double size, double waves, SizeAxis axis) {
  if (const MeasuredPoint* measured = point_at(points, size)) return measured->value;
  const Pair pair = pair_at(points, size);
  if (goes_by_waves(points, size, waves)) return by_waves(points, pair, size, waves);
  if (size > points.back().size) {
    return axis == SizeAxis::kSequence ? linear_and_square(pair.low, pair.high, size)
                                       : pair.high.value * (size / pair.high.size);
  }
  if (size < points.front().size) {
    return with_fixed_part(pair.low.size, pair.low.value, pair.high.size, pair.high.value, size);
  }
  return by_rate(pair.low, pair.high, size);
}

BytesBetween bytes_between(const Points& points, double size, SizeAxis axis) {
  if (const MeasuredPoint* measured = point_at(points, size)) return {measured->value, true};
  const Pair pair = pair_at(points, size);
  // A curve that dips below nothing, or leaves its neighbours, is not the right one.
  const double least = std::min(pair.low.value, pair.high.value);
  const double most = std::max(pair.low.value, pair.high.value);
  const bool inside = size > pair.low.size && size < pair.high.size;
  const auto fits = [&](double bytes) { return bytes >= 0 && (!inside || (bytes >= least - 1 && bytes <= most + 1)); };
  if (axis == SizeAxis::kSequence) {
    const std::optional<double> curve = on_parabola(points, pair, size);
    if (curve && fits(*curve)) return {*curve, true};
  }
  const double straight = on_line(pair, size);
  const bool on_curve = straight >= 0 && all_on(points, [&](double x) { return on_line(pair, x); });
  return {std::max(0.0, straight), on_curve};
}

}  // namespace debubble
