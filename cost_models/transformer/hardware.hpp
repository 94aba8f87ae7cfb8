// Hardware: what one accelerator can do at best, and the share of it that work reaches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost_models/collectives/nccl_model.hpp"
#include "cost_models/transformer/setup.hpp"
#include "sim/core/units.hpp"

namespace debubble {

struct OwnHardware;  // hardware_sources.hpp

struct Hardware {
  std::string name;       // "h100"
  std::string source;     // where the figures come from
  double fp32_flops = 0;  // dense, per second
  double half_flops = 0;  // fp16 and bf16
  double fp8_flops = 0;   // 0: none
  int multiprocessors = 0;
  Bytes memory = 0;
  std::int64_t memory_bandwidth = 0;  // bytes per second
  std::int64_t host_bandwidth = 0;    // one way
  std::int64_t link_bandwidth = 0;    // to its neighbours, one way, that collectives reach; for use without a topology
  Nanoseconds link_latency = 0;       // of one message to a neighbour
  int tile_rows = 128;                // of the matmul's output that one multiprocessor makes at a time
  int tile_columns = 128;
  std::string kernels;               // whose measured kernels are its own: a name in traces/kernels; empty: nobody's
  bool mxfp8 = false;                // scales of 32 numbers in hardware
  bool structured_sparsity = false;  // products of 2:4 sparse weights at twice the rate
  std::optional<Nanoseconds> host_launch;  // of one kernel by the host; nothing: what is usual (kEagerLaunch)
  std::shared_ptr<const OwnHardware> own;  // what a file says beyond these figures; null: a preset
};

// Shares of the peak, and what every kernel costs on top of its work. Two numbers of these may be calibrated.
struct Efficiency {
  double matrix = 1;           // of matmuls, apart from what tiles and waves lose
  double sustained = 1;        // of matmuls, too: what power and clocks allow however large they are
  double half_k = 0;           // k at which a matmul reaches half of the share of one with endless k
  double attention = 1;        // of fused attention that fills the device
  double memory = 1;           // of the memory bandwidth
  Nanoseconds per_kernel = 0;  // launch and fill, of every kernel
  double compute_scale = 1;    // calibration: all compute times are divided by it
  double network_scale = 1;    // calibration: all collective and transfer times are divided by it
};

[[nodiscard]] const std::vector<Hardware>& hardware_presets();
[[nodiscard]] const Hardware* find_hardware(std::string_view name);  // null: unknown
// By what a driver calls it: the preset whose name is part of the device's, "a100-80" in "NVIDIA A100-SXM4-80GB". Null:
// none does.
[[nodiscard]] const Hardware* hardware_of_device(std::string_view device);

// Whose latencies its collectives have: what its file says, or its name. Nothing: neither does.
[[nodiscard]] std::optional<LinkGeneration> hardware_links(const Hardware& hardware);

}  // namespace debubble
