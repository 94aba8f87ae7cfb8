#include "live/cuda/clocks.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

#include "sim/core/at.hpp"

namespace debubble::live {
namespace {

constexpr std::size_t kClockRounds = 7;  // odd: a median is one of the samples

void launch_wait(LaneDevice& lane, DeviceAddress address, unsigned value) {
  lane.enter();
  const std::array<void*, 2> arguments{&address, &value};
  lane.launch({"debubble_live_wait", 1, 1, 0, arguments});
}

}  // namespace

GpuClockReading read_clocks(const Lanes& lanes, Executor& executor, Bench& bench) {
  const auto devices = static_cast<std::int32_t>(lanes.size());
  const DeviceAddress address = bench.flag().address();
  bench.flag().set(0);
  for (const auto& lane : lanes) {
    launch_wait(*lane, address, 0);  // loads the kernel, where nothing waits yet
    lane->synchronise();
  }
  GpuClockReading found;
  std::vector<std::vector<Nanoseconds>> rounds(lanes.size());
  for (unsigned round = 1; round <= kClockRounds; ++round) {
    const auto issue = [&] {
      for (std::int32_t device = 0; device < devices; ++device) {
        LaneDevice& lane = *lanes[to_index(device)];
        launch_wait(lane, address, round);
        executor.stamp(device, lane.stream(), bench.next(device));
      }
    };
    bench.run(issue, [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // until all of them watch
      bench.flag().set(round);
    });
    found.at = bench.read(0).front();
    for (std::int32_t device = 0; device < devices; ++device) {
      rounds[to_index(device)].push_back(found.at - bench.read(device).front());
    }
  }
  for (std::vector<Nanoseconds>& offsets : rounds) {
    std::sort(offsets.begin(), offsets.end());
    found.offsets.push_back(offsets[kClockRounds / 2]);
    found.residual = std::max(found.residual, offsets.back() - offsets.front());
  }
  return found;
}

Nanoseconds ClockFit::to_common(std::int32_t device, Nanoseconds time) const {
  const auto index = static_cast<std::size_t>(device);
  if (before_.offsets.empty()) return time;
  const Nanoseconds first = before_.offsets[index];
  if (after_.offsets.empty() || after_.at <= before_.at) return time + first;
  const double share = static_cast<double>(time + first - before_.at) / static_cast<double>(after_.at - before_.at);
  return time + first + std::llround(share * static_cast<double>(after_.offsets[index] - first));
}

}  // namespace debubble::live
