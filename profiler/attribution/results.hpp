// Results: what the streams left, layer by layer, until the profile is put together.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "profiler/attribution/clock_use.hpp"
#include "profiler/attribution/instances.hpp"
#include "profiler/attribution/memory_use.hpp"
#include "profiler/attribution/stream_selection.hpp"

namespace debubble::attribution {

// The executions of a layer that count.
struct LayerSamples {
  std::vector<Instance> executions;
  std::vector<Bytes> kept;       // net allocation of its forwards
  std::vector<Bytes> workspace;  // peak above it
  bool ordered = false;          // its place in `Results::order` is known
};

struct Results {
  std::vector<LayerSamples> layers;  // by number
  std::vector<std::uint32_t> order;  // of first forward appearance
  std::int64_t streams = 0;
  std::int64_t incomplete = 0;
  std::int64_t steps = 0;
  std::int64_t warm_up_steps = 0;
  std::int64_t warm_up_passes = 0;  // most of any stream
  std::int64_t outside_steps = 0;
  std::int64_t placed_by_time = 0;
  std::int64_t before_launches = 0;  // kernels that were launched before the recording began
  Nanoseconds before_launches_time = 0;
  std::int64_t ambiguous_nodes = 0;
  std::int64_t whole_nodes = 0;  // fused ones that were not told apart
  bool forced = false;
  bool paused = false;  // recording was switched off for a while
  std::vector<Nanoseconds> recorded_walls;
  std::vector<Nanoseconds> unrecorded_walls;
  ClockUse clock;
  std::map<std::string, std::set<std::string>> facts;

  // Whether the work is that of a CPU.
  [[nodiscard]] bool on_cpu() const;
  // Takes over one stream.
  void add(const Instances& instances, const MemoryUse& memory, const StreamSelection& selection);

 private:
  LayerSamples& layer(std::uint32_t number);
};

}  // namespace debubble::attribution
