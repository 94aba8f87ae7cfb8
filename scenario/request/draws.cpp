#include "scenario/request/draws.hpp"

#include <cmath>
#include <numbers>

#include "sim/core/splitmix.hpp"

namespace debubble {

namespace {

// So that a microbatch's factor and the jitter of an op with the same number are not one draw.
constexpr std::uint64_t kStream = 0x6d6963726f626174;

}  // namespace

double uniform_draw(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t bits = splitmix64(splitmix64(seed ^ kStream) ^ index);
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
}

double normal_draw(std::uint64_t seed, std::uint64_t index) {
  // Box and Muller's transform.
  const double radius = std::sqrt(-2 * std::log(uniform_draw(seed, 2 * index)));
  return radius * std::cos(2 * std::numbers::pi * uniform_draw(seed, 2 * index + 1));
}

}  // namespace debubble
