#include "cost_models/transformer/hardware.hpp"

#include <algorithm>

#include "cost_models/transformer/hardware_sources.hpp"

namespace debubble {
namespace {

struct HardwareRow {
  const char* name;
  const char* kernels;       // whose tables hold: an export version has the processor of the original
  double fp32, half, fp8;    // TFLOP/s, dense; 0: the data sheet has none
  int processors;            // 0: nothing that runs one tile of a product each
  std::int64_t memory;       // GiB: a card of "80 GB" reports 81,920 MiB
  std::int64_t memory_rate;  // MB/s
  std::int64_t host, link;   // MB/s, one way; the link's is that of all links
  int tile_rows, tile_columns;
  bool sparsity;
  const char* source;  // its first part states the figures, its second the links (hardware_sources.cpp)
};

// Links of NVIDIA's: what NCCL's tuner assumes of one (20, 20, 20.6 and 40.1 GB/s; its graph/topo.h: LOC_BW and
// SM*_NVLINK_BW) times the links. What no table at hand states is a datasheet's figure as we remember it, and says so.
// No kernel of other makers was measured here: they get the A100's shares of the peak, and nobody's latencies of
// collectives; examples to be corrected by measurements (docs/hardware.md).
constexpr HardwareRow kHardwareRows[] = {
    {"v100", "", 15.7, 125, 0, 80, 32, 900'000, 12'000, 120'000, 128, 128, false,
     "NVIDIA V100 datasheet (SXM2, 32 GB), and the Volta whitepaper, 2017"},
    {"a100-40", "a100", 19.5, 312, 0, 108, 40, 1'555'000, 24'000, 240'000, 256, 128, true,
     "NVIDIA A100 datasheet (SXM4, 40 GB), and the Ampere whitepaper, 2020"},
    {"a100-80", "a100", 19.5, 312, 0, 108, 80, 2'039'000, 24'000, 240'000, 256, 128, true,
     "NVIDIA A100 datasheet (SXM4, 80 GB), and the Ampere whitepaper, 2020"},
    {"h100", "h100", 67, 989.4, 1978.9, 132, 80, 3'350'000, 50'000, 370'800, 128, 256, true,
     "NVIDIA H100 datasheet (SXM5), dense rates, and the Hopper whitepaper, 2022"},
    {"h200", "h200", 67, 989.4, 1978.9, 132, 141, 4'800'000, 50'000, 370'800, 128, 256, true,
     "NVIDIA H200 datasheet (SXM), dense rates, 2023"},
    {"b200", "b200", 75, 2250, 4500, 148, 180, 8'000'000, 50'000, 721'800, 128, 256, true,
     "NVIDIA DGX B200 datasheet, an eighth of it, dense rates, 2024 (aiconfigurator's b200_sxm.yaml: 7700 GB/s)"},
    {"gb200", "gb200", 80, 2500, 5000, 148, 186, 8'000'000, 450'000, 721'800, 128, 256, true,
     "NVIDIA GB200 NVL72 datasheet, one of its 72 GPUs, dense rates, 2024 (aiconfigurator's gb200.yaml: 185 GiB)"},
    {"a800", "a100", 19.5, 312, 0, 108, 80, 2'039'000, 24'000, 160'000, 256, 128, true,
     "rates, memory and its bandwidth: an A100 (SXM4, 80 GB), as in ai-dynamo/aiconfigurator@095f58a, a100_sxm.yaml; "
     "links: 8 at the 20 GB/s that NCCL takes for NVLink 3; 32-bit rate, multiprocessors, PCIe, 8 links instead of "
     "12: datasheet figures, recalled"},
    {"h800", "h100", 67, 989.4, 1978.9, 132, 80, 3'350'000, 50'000, 164'800, 128, 256, true,
     "rates: those of an H100 SXM, as TileLang's and DeepGEMM's H800 tables have them; memory and its bandwidth: an "
     "H100's, ai-dynamo/aiconfigurator@095f58a, h100_sxm.yaml; links: 8 at the 20.6 GB/s that NCCL takes for NVLink "
     "4 (DeepEP's tables state 160 GB/s); 32-bit rate, multiprocessors, PCIe: datasheet figures, recalled"},
    {"h20", "", 44, 148, 296, 78, 96, 4'000'000, 50'000, 370'800, 128, 256, true,
     "NVIDIA H20 (SXM5, 96 GB), dense rates; links: 18 at the 20.6 GB/s that NCCL takes for NVLink 4; rates, memory "
     "and its bandwidth, multiprocessors, PCIe, 18 links: datasheet figures, recalled"},
    {"b300", "b300", 75, 2250, 4500, 148, 268, 7'750'000, 50'000, 721'800, 128, 256, true,
     "16- and 8-bit rates, memory and its bandwidth, NVLink of 900 GB/s one way: ai-dynamo/aiconfigurator@095f58a, "
     "b300_sxm.yaml; links: at the 40.1 GB/s that NCCL takes for NVLink 5; 32-bit rate, multiprocessors, PCIe: "
     "datasheet figures, recalled"},
    {"gb300", "gb300", 80, 2500, 5000, 148, 277, 8'000'000, 450'000, 721'800, 128, 256, true,
     "16- and 8-bit rates, memory and its bandwidth, NVLink of 900 GB/s one way: ai-dynamo/aiconfigurator@095f58a, "
     "gb300.yaml; links: at the 40.1 GB/s that NCCL takes for NVLink 5; 32-bit rate, multiprocessors, link to the "
     "CPU: datasheet figures, recalled"},
    {"l40s", "", 91.6, 362, 733, 142, 48, 864'000, 24'000, 24'000, 128, 128, true,
     "NVIDIA L40S (PCIe, 48 GB), dense rates; links: PCIe 4, at twice the 12 GB/s that NCCL takes for PCIe 3; rates, "
     "memory and its bandwidth, multiprocessors, PCIe: datasheet figures, recalled"},
    {"mi250x", "", 47.9, 191.5, 0, 110, 64, 1'638'400, 24'000, 200'000, 128, 128, false,
     "AMD Instinct MI250X data sheet, dense rates: one of its two dies (GCD), which programs see as a GPU, with half "
     "of all; links: 4 of the card's 8 Infinity Fabric links, 50 GB/s one way, nominal"},
    {"mi300x", "", 163.4, 1307.4, 2614.9, 304, 192, 5'300'000, 50'000, 448'000, 128, 128, true,
     "AMD Instinct MI300X data sheet, dense rates; links: 7 Infinity Fabric links of 64 GB/s one way, nominal"},
    {"mi325x", "", 163.4, 1307.4, 2614.9, 304, 256, 6'000'000, 50'000, 448'000, 128, 128, true,
     "AMD Instinct MI325X data sheet, dense rates; links: 7 Infinity Fabric links of 64 GB/s one way, nominal"},
    {"gaudi3", "", 0, 1835, 1835, 0, 128, 3'700'000, 50'000, 600'000, 128, 128, false,
     "Intel Gaudi 3 white paper, matrix rates; links: 24 Ethernet ports of 200 Gbit/s, nominal"},
    {"tpu-v5p", "", 0, 459, 0, 0, 95, 2'765'000, 24'000, 600'000, 128, 128, false,
     "Google Cloud TPU v5p documentation, per chip; links: 4,800 Gbit/s of interconnect per chip, nominal"},
};

std::vector<Hardware> make_hardware_presets() {
  constexpr double kTera = 1e12;
  constexpr std::int64_t kMega = 1'000'000;
  std::vector<Hardware> list;
  for (const HardwareRow& row : kHardwareRows) {
    Hardware& made = list.emplace_back();
    made.name = row.name;
    made.source = row.source;
    made.fp32_flops = row.fp32 * kTera;
    made.half_flops = row.half * kTera;
    made.fp8_flops = row.fp8 * kTera;
    made.multiprocessors = row.processors;
    made.memory = row.memory * (Bytes{1} << 30);
    made.memory_bandwidth = row.memory_rate * kMega;
    made.host_bandwidth = row.host * kMega;
    made.link_bandwidth = row.link * kMega;
    made.link_latency = 3400;  // of a step of NCCL's ring
    made.tile_rows = row.tile_rows;
    made.tile_columns = row.tile_columns;
    made.kernels = row.kernels;
    made.mxfp8 = made.name.find("b200") != std::string::npos || made.name.find("b300") != std::string::npos;
    made.structured_sparsity = row.sparsity;  // of NVIDIA's since Ampere: NVIDIA A100 whitepaper, 2020
    // XLA compiles a whole step: nothing is launched one kernel after the other.
    if (made.name == "tpu-v5p") made.host_launch = 0;
  }
  return list;
}

}  // namespace

const std::vector<Hardware>& hardware_presets() {
  static const std::vector<Hardware> list = make_hardware_presets();
  return list;
}

const Hardware* find_hardware(std::string_view name) {
  const std::string_view full = name == "a100" ? std::string_view("a100-80") : name;
  for (const Hardware& hardware : hardware_presets()) {
    if (hardware.name == full) return &hardware;
  }
  return nullptr;
}

std::optional<LinkGeneration> hardware_links(const Hardware& hardware) {
  return hardware.own != nullptr ? hardware.own->links : link_generation(hardware.name);
}

const Hardware* hardware_of_device(std::string_view device) {
  std::string lower(device);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  const Hardware* found = nullptr;
  for (const Hardware& hardware : hardware_presets()) {
    std::size_t dash = hardware.name.find('-');
    // What follows a dash is a size in "a100-80", and a part of the name in "tpu-v5p".
    if (dash != std::string::npos && (hardware.name[dash + 1] < '0' || hardware.name[dash + 1] > '9')) {
      dash = std::string::npos;
    }
    if (lower.find(hardware.name.substr(0, dash)) == std::string::npos) continue;
    const bool memory_fits =
        dash != std::string::npos && lower.find(hardware.name.substr(dash + 1) + "gb") < lower.size();
    // "NVIDIA GB200" names a b200, too; the longer name says more.
    const bool longer = found != nullptr && dash == std::string::npos && hardware.name.size() > found->name.size();
    if (found == nullptr || memory_fits || longer) found = &hardware;
  }
  return found;
}

}  // namespace debubble
