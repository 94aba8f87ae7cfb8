#include "sim/core/topology.hpp"

#include <algorithm>

namespace debubble {

namespace {

// ceil(bytes * 1e9 / bandwidth), or 2^62 where that is more: far beyond what a run may take, so it is refused later.
Nanoseconds serialisation_time(Bytes bytes, std::int64_t bandwidth) {
  __extension__ using Wide = unsigned __int128;
  constexpr Wide kNanosecondsPerSecond = 1'000'000'000;
  const Wide rounded_up = (static_cast<Wide>(bytes) * kNanosecondsPerSecond + static_cast<Wide>(bandwidth) - 1) /
                          static_cast<Wide>(bandwidth);
  return static_cast<Nanoseconds>(std::min(rounded_up, Wide{1} << 62));
}

}  // namespace

Topology Topology::ideal(Nanoseconds latency, std::int64_t bandwidth) {
  Topology topology;
  topology.latency_ = latency;
  topology.bandwidth_ = bandwidth;
  return topology;
}

TransferTime Topology::transfer(int from_device, int to_device, Bytes bytes) const {
  if (from_device == to_device) return {};
  return {bandwidth_ == 0 ? 0 : serialisation_time(bytes, bandwidth_), latency_};
}

}  // namespace debubble
