#include "scenario/request/draws.hpp"

#include <cmath>
#include <numbers>

namespace debubble {

namespace {

// splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// So that a microbatch's factor and the jitter of an op with the same number are not one draw.
constexpr std::uint64_t kStream = 0x6d6963726f626174;

}  // namespace

double uniform_draw(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t bits = mix(mix(seed ^ kStream) ^ index);
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
}

double normal_draw(std::uint64_t seed, std::uint64_t index) {
  // Box and Muller's transform.
  const double radius = std::sqrt(-2 * std::log(uniform_draw(seed, 2 * index)));
  return radius * std::cos(2 * std::numbers::pi * uniform_draw(seed, 2 * index + 1));
}

}  // namespace debubble
