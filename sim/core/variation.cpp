#include "sim/core/variation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "sim/core/at.hpp"
#include "sim/core/splitmix.hpp"

namespace debubble {

namespace {

// In (0, 1): never 0, whose logarithm is not finite.
double unit_interval(std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

double table(const std::vector<double>& factors, std::int32_t index) {
  return factors.empty() ? 1 : at(factors, index);
}

// Of `sigma`; the third and fourth numbers of the key name what it is drawn for.
double lognormal_factor(double sigma, std::uint64_t seed, std::int32_t replica, std::uint64_t what,
                        std::uint64_t kind) {
  std::uint64_t key = splitmix64(seed);
  key = splitmix64(key ^ static_cast<std::uint32_t>(replica));
  key = splitmix64(key ^ what);
  key = splitmix64(key ^ kind);
  // Box and Muller's transform: two even draws make a normal one.
  const double normal =
      std::sqrt(-2 * std::log(unit_interval(key))) * std::cos(2 * std::numbers::pi * unit_interval(splitmix64(key)));
  return std::exp(sigma * normal);
}

std::uint64_t both(std::int32_t high, std::int32_t low) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 | static_cast<std::uint32_t>(low);
}

constexpr std::int32_t kNoStage = -1;        // in the place of an op's stage
constexpr std::uint64_t kTaskKinds = 0x100;  // beyond all kinds of ops

}  // namespace

double Variation::factor(std::int32_t replica, std::int32_t device_index, const Op& op) const {
  double factor = table(device, device_index) * table(piece, op.microbatch) * table(pipeline_replica, replica);
  if (!is_vocabulary(op.kind)) factor *= table(stage, op.stage);
  if (jitter == 0) return factor;
  return factor *
         lognormal_factor(jitter, seed, replica, both(op.stage, op.microbatch), static_cast<std::uint64_t>(op.kind));
}

double Variation::task_factor(const StepTask& task, std::int32_t first_replica, std::int32_t replicas) const {
  if (task.lane != StepTask::Lane::kCompute) return 1;
  double longest = 0;
  for (std::int32_t replica = first_replica; replica < first_replica + replicas; ++replica) {
    for (const std::int32_t on : task.devices) {
      double factor = table(device, on) * table(pipeline_replica, replica);
      if (jitter != 0) {
        const std::uint64_t kind = kTaskKinds + static_cast<std::uint64_t>(task.kind);
        factor *= lognormal_factor(jitter, seed, replica, both(kNoStage, on), kind);
      }
      longest = std::max(longest, factor);
    }
  }
  return longest > 0 ? longest : 1;
}

Nanoseconds Variation::apply(Nanoseconds base, std::int32_t replica, std::int32_t device_index, const Op& op) const {
  const double by = factor(replica, device_index, op);
  return by == 1 ? base : std::llround(static_cast<double>(base) * by);
}

}  // namespace debubble
