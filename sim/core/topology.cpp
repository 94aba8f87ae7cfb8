#include "sim/core/topology.hpp"

namespace debubble {

namespace {

// ceil(bytes * 1e9 / bandwidth) without overflow: whole seconds first, then the rest.
Nanoseconds serialisation_time(Bytes bytes, std::int64_t bandwidth) {
  constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
  const Bytes whole_seconds = bytes / bandwidth;
  __extension__ using Wide = unsigned __int128;
  const Wide rest = static_cast<Wide>(bytes % bandwidth) * static_cast<Wide>(kNanosecondsPerSecond);
  const Wide rounded_up = (rest + static_cast<Wide>(bandwidth) - 1) / static_cast<Wide>(bandwidth);
  return whole_seconds * kNanosecondsPerSecond + static_cast<Nanoseconds>(rounded_up);
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
