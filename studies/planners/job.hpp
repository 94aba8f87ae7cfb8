// PlannerJob: what every planner of the catalog is asked about, in one form for all of them.
//
//     layers 0 1 2 | 3 4        a cut behind layer 2; stages are half-open ranges [0,3) [3,5)
//     levels {4 members, 10 GB/s} {2 members, 1 GB/s}: two machines of four devices; innermost level first
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost_models/partition/blocks.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// Bytes per second of a link without a limit.
inline constexpr std::int64_t kUnlimitedLink = 1'000'000'000'000'000;

struct PlannerLayer {
  std::string name;
  LayerRole role = LayerRole::kBlock;
  Nanoseconds forward = 0;  // of one microbatch on a device whose time factor is 1
  Nanoseconds backward = 0;
  Bytes output = 0;      // of one microbatch; crosses a cut behind this layer, and comes back as a gradient
  Bytes activation = 0;  // of one microbatch, kept for its backward
  Bytes parameters = 0;  // weights alone
  // Gradients and optimizer state; absent: three times the weights (gradients like them, Adam's two moments).
  std::optional<Bytes> state;
};

struct PlannerDeviceType {
  std::string name;
  double time_factor = 1;      // its times are so many times the layers'
  Bytes memory = 0;            // 0: not limited
  std::int64_t bandwidth = 0;  // of its network card, bytes per second; 0: that of the links
};

// `members` components of the level below, joined by links of `bandwidth` bytes per second each.
struct PlannerLevel {
  int members = 1;
  std::int64_t bandwidth = 0;
};

// A product Y = X W of the model, for planners of operators: X is rows x in, W is in x out.
struct PlannerProduct {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
};

struct PlannerJob {
  std::string model;
  std::vector<PlannerLayer> layers;
  std::vector<PlannerDeviceType> types;
  std::vector<int> devices;          // by device: its type
  std::vector<PlannerLevel> levels;  // innermost first; their members' product is the number of devices
  // By pair of devices, row by row, bytes per second: instead of what the levels say. Empty: the levels'.
  std::vector<std::int64_t> links;
  int microbatches = 1;  // per step
  std::vector<PlannerProduct> products;

  [[nodiscard]] int layer_count() const { return static_cast<int>(layers.size()); }
  [[nodiscard]] int device_count() const { return static_cast<int>(devices.size()); }
};

// A job of so many equal devices joined by links of one bandwidth; no layers yet.
[[nodiscard]] PlannerJob equal_devices(int devices, std::int64_t bandwidth, Bytes memory = 0);

// Throws InputError Z001 (with everything that is wrong) for a job that no planner can be asked about: no layers, no
// devices, an unknown type, levels that do not multiply to the devices, bandwidths or factors that are not positive.
void check_planner_job(const PlannerJob& job);

// Bytes per second of the slowest link between two different devices, before network cards.
[[nodiscard]] std::int64_t pair_bandwidth(const PlannerJob& job, int one, int other);

// The same, or the slower of the two devices' network cards where that is less.
[[nodiscard]] std::int64_t card_bandwidth(const PlannerJob& job, int one, int other);

// The first device of the machine (innermost level) that holds `device`.
[[nodiscard]] int machine_of(const PlannerJob& job, int device);
[[nodiscard]] int machine_size(const PlannerJob& job);

// Whether all devices have one time factor and one memory.
[[nodiscard]] bool equal_types(const PlannerJob& job);
// Of the device that is: planners that know equal devices only take its times for all.
[[nodiscard]] double slowest_factor(const PlannerJob& job);
// Least memory of a device that is limited; 0: none is.
[[nodiscard]] Bytes least_memory(const PlannerJob& job);

// Sums over half-open ranges of layers, exact.
class PlannerSums {
 public:
  explicit PlannerSums(const PlannerJob& job);

  [[nodiscard]] Nanoseconds time(int begin, int end) const { return range(time_, begin, end); }
  [[nodiscard]] Nanoseconds forward(int begin, int end) const { return range(forward_, begin, end); }
  [[nodiscard]] Bytes parameters(int begin, int end) const { return range(parameters_, begin, end); }
  [[nodiscard]] Bytes activation(int begin, int end) const { return range(activation_, begin, end); }
  [[nodiscard]] Bytes state(int begin, int end) const { return range(state_, begin, end); }
  [[nodiscard]] int count() const { return static_cast<int>(time_.size()) - 1; }

 private:
  using Sums = std::vector<std::int64_t>;
  [[nodiscard]] static std::int64_t range(const Sums& sums, int begin, int end) {
    return sums[static_cast<std::size_t>(end)] - sums[static_cast<std::size_t>(begin)];
  }

  Sums time_, forward_, parameters_, activation_, state_;
};

}  // namespace debubble
