#include <cmath>
#include <vector>

#include "gpu/workload/layers.hpp"

namespace debubble {

RotaryTable::RotaryTable(WorkDevice& device, const Shard& shard, double base) : buffers_(device, shard.type) {
  if (shard.positions > 0) return;
  const std::int64_t half = shard.head_size / 2;
  std::vector<float> cosines;
  std::vector<float> sines;
  for (std::int64_t position = 0; position < shard.sequence; ++position) {
    for (std::int64_t pair = 0; pair < half; ++pair) {
      const double exponent = -static_cast<double>(pair) / static_cast<double>(half);
      const double angle = static_cast<double>(position) * std::pow(base, exponent);
      cosines.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  const std::int64_t count = shard.sequence * half;
  cosines_ = buffers_.add("cosines", Purpose::kKept, count, Element::kFloat);
  device.upload(cosines_, cosines.data(), count * 4);
  sines_ = buffers_.add("sines", Purpose::kKept, count, Element::kFloat);
  device.upload(sines_, sines.data(), count * 4);
}

}  // namespace debubble
