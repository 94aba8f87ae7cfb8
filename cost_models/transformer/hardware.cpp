#include "cost_models/transformer/hardware.hpp"

#include <algorithm>
#include <array>

#include "cost_models/transformer/hardware_sources.hpp"

namespace debubble {
namespace {

constexpr double kTera = 1e12;
constexpr std::int64_t kGiga = 1'000'000'000;
constexpr Bytes kGiB = Bytes{1} << 30;

Hardware& add_preset(std::vector<Hardware>& list, const char* name, const char* source) {
  list.emplace_back();
  list.back().name = name;
  list.back().source = source;
  return list.back();
}

void rates(Hardware& gpu, double fp32, double half, double fp8, int multiprocessors) {
  gpu.fp32_flops = fp32 * kTera;
  gpu.half_flops = half * kTera;
  gpu.fp8_flops = fp8 * kTera;
  gpu.multiprocessors = multiprocessors;
}

// The makers' gigabytes of device memory are GiB: a card of "80 GB" reports 81,920 MiB.
void memory(Hardware& gpu, Bytes gib, std::int64_t gigabytes_per_second, std::int64_t host) {
  gpu.memory = gib * kGiB;
  gpu.memory_bandwidth = gigabytes_per_second * kGiga;
  gpu.host_bandwidth = host * kGiga;
}

// What NCCL's tuner assumes of a link (20, 20, 20.6 and 40.1 GB/s) times the links; latency of its ring's steps.
void link(Hardware& gpu, std::int64_t megabytes_per_second) {
  gpu.link_bandwidth = megabytes_per_second * (kGiga / 1000);
  gpu.link_latency = 3400;
}

void tile(Hardware& gpu, int rows, int columns) {
  gpu.tile_rows = rows;
  gpu.tile_columns = columns;
}

// Where a preset's figures stand. What no table at hand states is a datasheet's figure as we remember it, and says so.
constexpr const char* kRecalled = "datasheet figures, recalled";

// What NCCL's tuner takes for a link is in its source (graph/topo.h: LOC_BW and SM*_NVLINK_BW).
std::string preset_source(const std::string& stated, const std::string& links, const std::string& recalled) {
  return stated + "; " + links + "; " + recalled + ": " + kRecalled;
}

std::string stated_by_aiconfigurator(const char* file, const char* what) {
  return std::string(what) + ": ai-dynamo/aiconfigurator@095f58a, " + file;
}

// The A100 and H100 with fewer links (8 of 12 and of 18), and Hopper with fewer units.
void add_exports(std::vector<Hardware>& list) {
  Hardware& a800 = add_preset(list, "a800", "");
  a800.source = preset_source("rates, memory and its bandwidth: an A100 (SXM4, 80 GB), as in " +
                                  std::string("ai-dynamo/aiconfigurator@095f58a, a100_sxm.yaml"),
                              "links: 8 at the 20 GB/s that NCCL takes for NVLink 3",
                              "32-bit rate, multiprocessors, PCIe, 8 links instead of 12");
  rates(a800, 19.5, 312, 0, 108);
  memory(a800, 80, 2039, 24);
  link(a800, 160000);
  tile(a800, 256, 128);
  Hardware& h800 = add_preset(list, "h800", "");
  h800.source = preset_source(
      "rates: those of an H100 SXM, as TileLang's and DeepGEMM's H800 tables have them; memory and its "
      "bandwidth: an H100's, ai-dynamo/aiconfigurator@095f58a, h100_sxm.yaml",
      "links: 8 at the 20.6 GB/s that NCCL takes for NVLink 4 (DeepEP's tables state 160 GB/s)",
      "32-bit rate, multiprocessors, PCIe");
  rates(h800, 67, 989.4, 1978.9, 132);
  memory(h800, 80, 3350, 50);
  link(h800, 164800);
  tile(h800, 128, 256);
  Hardware& h20 = add_preset(list, "h20", "");
  h20.source =
      preset_source("NVIDIA H20 (SXM5, 96 GB), dense rates", "links: 18 at the 20.6 GB/s that NCCL takes for NVLink 4",
                    "rates, memory and its bandwidth, multiprocessors, PCIe, 18 links");
  rates(h20, 44, 148, 296, 78);
  memory(h20, 96, 4000, 50);
  link(h20, 370800);
  tile(h20, 128, 256);
}

void add_ultra(std::vector<Hardware>& list) {
  constexpr const char* kStated = "16- and 8-bit rates, memory and its bandwidth, NVLink of 900 GB/s one way";
  constexpr const char* kLinks = "links: at the 40.1 GB/s that NCCL takes for NVLink 5";
  Hardware& b300 = add_preset(list, "b300", "");
  b300.source =
      preset_source(stated_by_aiconfigurator("b300_sxm.yaml", kStated), kLinks, "32-bit rate, multiprocessors, PCIe");
  rates(b300, 75, 2250, 4500, 148);
  memory(b300, 268, 7750, 50);
  link(b300, 721800);
  tile(b300, 128, 256);
  Hardware& gb300 = add_preset(list, "gb300", "");
  gb300.source = preset_source(stated_by_aiconfigurator("gb300.yaml", kStated), kLinks,
                               "32-bit rate, multiprocessors, link to the CPU");
  rates(gb300, 80, 2500, 5000, 148);
  memory(gb300, 277, 8000, 450);
  link(gb300, 721800);
  tile(gb300, 128, 256);
}

// Without NVLink: its neighbours are a PCIe bus of generation 4 away.
void add_cards(std::vector<Hardware>& list) {
  Hardware& l40s = add_preset(list, "l40s", "");
  l40s.source = preset_source("NVIDIA L40S (PCIe, 48 GB), dense rates",
                              "links: PCIe 4, at twice the 12 GB/s that NCCL takes for PCIe 3",
                              "rates, memory and its bandwidth, multiprocessors, PCIe");
  rates(l40s, 91.6, 362, 733, 142);
  memory(l40s, 48, 864, 24);
  link(l40s, 24000);
}

// Whose tables hold: an export version has the processor of the original.
void name_kernels(std::vector<Hardware>& list) {
  struct Owner {
    const char* hardware;
    const char* kernels;
  };
  constexpr std::array<Owner, 10> kOwners{{{"a100-40", "a100"},
                                           {"a100-80", "a100"},
                                           {"a800", "a100"},
                                           {"h100", "h100"},
                                           {"h800", "h100"},
                                           {"h200", "h200"},
                                           {"b200", "b200"},
                                           {"b300", "b300"},
                                           {"gb200", "gb200"},
                                           {"gb300", "gb300"}}};
  for (Hardware& gpu : list) {
    for (const Owner& owner : kOwners) {
      if (gpu.name == owner.hardware) gpu.kernels = owner.kernels;
    }
    gpu.structured_sparsity = gpu.name != "v100";  // since Ampere: NVIDIA A100 whitepaper, 2020
    gpu.mxfp8 = gpu.name.find("b200") != std::string::npos || gpu.name.find("b300") != std::string::npos;
  }
}

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<Hardware> make_hardware_presets() {
  std::vector<Hardware> list;
  Hardware& v100 = add_preset(list, "v100", "NVIDIA V100 datasheet (SXM2, 32 GB), and the Volta whitepaper, 2017");
  rates(v100, 15.7, 125, 0, 80);
  memory(v100, 32, 900, 12);
  link(v100, 120000);
  Hardware& a100_40 =
      add_preset(list, "a100-40", "NVIDIA A100 datasheet (SXM4, 40 GB), and the Ampere whitepaper, 2020");
  rates(a100_40, 19.5, 312, 0, 108);
  memory(a100_40, 40, 1555, 24);
  link(a100_40, 240000);
  tile(a100_40, 256, 128);
  Hardware& a100_80 =
      add_preset(list, "a100-80", "NVIDIA A100 datasheet (SXM4, 80 GB), and the Ampere whitepaper, 2020");
  rates(a100_80, 19.5, 312, 0, 108);
  memory(a100_80, 80, 2039, 24);
  link(a100_80, 240000);
  tile(a100_80, 256, 128);
  Hardware& h100 =
      add_preset(list, "h100", "NVIDIA H100 datasheet (SXM5), dense rates, and the Hopper whitepaper, 2022");
  rates(h100, 67, 989.4, 1978.9, 132);
  memory(h100, 80, 3350, 50);
  link(h100, 370800);
  tile(h100, 128, 256);
  Hardware& h200 = add_preset(list, "h200", "NVIDIA H200 datasheet (SXM), dense rates, 2023");
  rates(h200, 67, 989.4, 1978.9, 132);
  memory(h200, 141, 4800, 50);
  link(h200, 370800);
  tile(h200, 128, 256);
  Hardware& b200 = add_preset(
      list, "b200",
      "NVIDIA DGX B200 datasheet, an eighth of it, dense rates, 2024 (aiconfigurator's b200_sxm.yaml: 7700 GB/s)");
  rates(b200, 75, 2250, 4500, 148);
  memory(b200, 180, 8000, 50);
  link(b200, 721800);
  tile(b200, 128, 256);
  Hardware& gb200 = add_preset(
      list, "gb200",
      "NVIDIA GB200 NVL72 datasheet, one of its 72 GPUs, dense rates, 2024 (aiconfigurator's gb200.yaml: 185 GiB)");
  rates(gb200, 80, 2500, 5000, 148);
  memory(gb200, 186, 8000, 450);
  link(gb200, 721800);
  tile(gb200, 128, 256);
  add_exports(list);
  add_ultra(list);
  add_cards(list);
  name_kernels(list);
  add_other_makers(list);
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
