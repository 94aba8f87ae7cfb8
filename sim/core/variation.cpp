#include "sim/core/variation.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace debubble {

namespace {

// splitmix64 (Steele, Lea, Flood 2014): every output bit depends on every input bit.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// In (0, 1): never 0, whose logarithm is not finite.
double unit(std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

double table(const std::vector<double>& factors, std::int32_t index) {
  return factors.empty() ? 1 : factors[static_cast<std::size_t>(index)];
}

}  // namespace

double Variation::factor(std::int32_t replica, std::int32_t device_index, const Op& op) const {
  double factor = table(device, device_index) * table(piece, op.microbatch) * table(pipeline_replica, replica);
  if (!is_vocabulary(op.kind)) factor *= table(stage, op.stage);
  if (jitter == 0) return factor;
  std::uint64_t key = mix(seed);
  key = mix(key ^ static_cast<std::uint32_t>(replica));
  key = mix(key ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(op.stage)) << 32 |
                   static_cast<std::uint32_t>(op.microbatch)));
  key = mix(key ^ static_cast<std::uint64_t>(op.kind));
  // Box and Muller's transform: two even draws make a normal one.
  const double normal = std::sqrt(-2 * std::log(unit(key))) * std::cos(2 * std::numbers::pi * unit(mix(key)));
  return factor * std::exp(jitter * normal);
}

Nanoseconds Variation::apply(Nanoseconds base, std::int32_t replica, std::int32_t device_index, const Op& op) const {
  const double by = factor(replica, device_index, op);
  return by == 1 ? base : std::llround(static_cast<double>(base) * by);
}

}  // namespace debubble
