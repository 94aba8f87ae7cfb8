// Accelerators of other makers, as their data sheets have them: no kernel of theirs was measured here, so that they get
// the A100's shares of the peak, and nobody's latencies of collectives. Examples to be corrected by measurements
// (docs/hardware.md).
#include "cost_models/transformer/hardware.hpp"

namespace debubble {
namespace {

constexpr double kTeraFlops = 1e12;
constexpr std::int64_t kMegabytes = 1'000'000;
constexpr Bytes kOneGib = Bytes{1} << 30;

struct OtherMaker {
  const char* name;
  double fp32, half, fp8;              // TFLOP/s, dense; 0: the data sheet has none
  int processors;                      // compute units; 0: nothing that runs one tile of a product each
  std::int64_t memory;                 // GiB
  std::int64_t bandwidth, host, link;  // MB/s; the link's is the sum of all its links, one way
  bool sparsity;
  const char* source;
};

// The source's first part is what states the figures, its second the links (hardware_sources.cpp).
constexpr OtherMaker kOtherMakers[] = {
    {"mi250x", 47.9, 191.5, 0, 110, 64, 1'638'400, 24'000, 200'000, false,
     "AMD Instinct MI250X data sheet, dense rates: one of its two dies (GCD), which programs see as a GPU, with half "
     "of "
     "all; links: 4 of the card's 8 Infinity Fabric links, 50 GB/s one way, nominal"},
    {"mi300x", 163.4, 1307.4, 2614.9, 304, 192, 5'300'000, 50'000, 448'000, true,
     "AMD Instinct MI300X data sheet, dense rates; links: 7 Infinity Fabric links of 64 GB/s one way, nominal"},
    {"mi325x", 163.4, 1307.4, 2614.9, 304, 256, 6'000'000, 50'000, 448'000, true,
     "AMD Instinct MI325X data sheet, dense rates; links: 7 Infinity Fabric links of 64 GB/s one way, nominal"},
    {"gaudi3", 0, 1835, 1835, 0, 128, 3'700'000, 50'000, 600'000, false,
     "Intel Gaudi 3 white paper, matrix rates; links: 24 Ethernet ports of 200 Gbit/s, nominal"},
    {"tpu-v5p", 0, 459, 0, 0, 95, 2'765'000, 24'000, 600'000, false,
     "Google Cloud TPU v5p documentation, per chip; links: 4,800 Gbit/s of interconnect per chip, nominal"},
};

}  // namespace

void add_other_makers(std::vector<Hardware>& list) {
  for (const OtherMaker& row : kOtherMakers) {
    Hardware& made = list.emplace_back();
    made.name = row.name;
    made.source = row.source;
    made.fp32_flops = row.fp32 * kTeraFlops;
    made.half_flops = row.half * kTeraFlops;
    made.fp8_flops = row.fp8 * kTeraFlops;
    made.multiprocessors = row.processors;
    made.memory = row.memory * kOneGib;
    made.memory_bandwidth = row.bandwidth * kMegabytes;
    made.host_bandwidth = row.host * kMegabytes;
    made.link_bandwidth = row.link * kMegabytes;
    made.link_latency = 3400;
    made.structured_sparsity = row.sparsity;
    // XLA compiles a whole step: nothing is launched one kernel after the other.
    if (made.name == "tpu-v5p") made.host_launch = 0;
  }
}

}  // namespace debubble
