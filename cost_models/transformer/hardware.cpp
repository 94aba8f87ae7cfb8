#include "cost_models/transformer/hardware.hpp"

#include <algorithm>

namespace debubble {
namespace {

constexpr double kTera = 1e12;
constexpr std::int64_t kGiga = 1'000'000'000;
constexpr Bytes kGiB = Bytes{1} << 30;

// The makers' gigabytes of device memory are GiB: a card of "80 GB" reports 81,920 MiB.
// NOLINTNEXTLINE(readability-function-size): a table
std::vector<Hardware> make_hardware_presets() {
  std::vector<Hardware> list;
  const auto add = [&list](const char* name, const char* source) -> Hardware& {
    list.emplace_back();
    list.back().name = name;
    list.back().source = source;
    return list.back();
  };
  const auto rates = [](Hardware& gpu, double fp32, double half, double fp8, int multiprocessors) {
    gpu.fp32_flops = fp32 * kTera;
    gpu.half_flops = half * kTera;
    gpu.fp8_flops = fp8 * kTera;
    gpu.multiprocessors = multiprocessors;
  };
  const auto memory = [](Hardware& gpu, Bytes gib, std::int64_t gigabytes_per_second, std::int64_t host) {
    gpu.memory = gib * kGiB;
    gpu.memory_bandwidth = gigabytes_per_second * kGiga;
    gpu.host_bandwidth = host * kGiga;
  };
  // What NCCL's tuner assumes of a link (20, 20, 20.6 and 40.1 GB/s) times the links; latency of its ring's steps.
  const auto link = [](Hardware& gpu, std::int64_t megabytes_per_second) {
    gpu.link_bandwidth = megabytes_per_second * (kGiga / 1000);
    gpu.link_latency = 3400;
  };
  const auto tile = [](Hardware& gpu, int rows, int columns) {
    gpu.tile_rows = rows;
    gpu.tile_columns = columns;
  };

  Hardware& v100 = add("v100", "NVIDIA V100 datasheet (SXM2, 32 GB), and the Volta whitepaper, 2017");
  rates(v100, 15.7, 125, 0, 80);
  memory(v100, 32, 900, 12);
  link(v100, 120000);
  Hardware& a100_40 = add("a100-40", "NVIDIA A100 datasheet (SXM4, 40 GB), and the Ampere whitepaper, 2020");
  rates(a100_40, 19.5, 312, 0, 108);
  memory(a100_40, 40, 1555, 24);
  link(a100_40, 240000);
  tile(a100_40, 256, 128);
  Hardware& a100_80 = add("a100-80", "NVIDIA A100 datasheet (SXM4, 80 GB), and the Ampere whitepaper, 2020");
  rates(a100_80, 19.5, 312, 0, 108);
  memory(a100_80, 80, 2039, 24);
  link(a100_80, 240000);
  tile(a100_80, 256, 128);
  Hardware& h100 = add("h100", "NVIDIA H100 datasheet (SXM5), dense rates, and the Hopper whitepaper, 2022");
  rates(h100, 67, 989.4, 1978.9, 132);
  memory(h100, 80, 3350, 50);
  link(h100, 370800);
  tile(h100, 128, 256);
  Hardware& h200 = add("h200", "NVIDIA H200 datasheet (SXM), dense rates, 2023");
  rates(h200, 67, 989.4, 1978.9, 132);
  memory(h200, 141, 4800, 50);
  link(h200, 370800);
  tile(h200, 128, 256);
  Hardware& b200 = add("b200", "NVIDIA DGX B200 datasheet, an eighth of it, dense rates, 2024");
  rates(b200, 75, 2250, 4500, 148);
  memory(b200, 180, 8000, 50);
  link(b200, 721800);
  tile(b200, 128, 256);
  Hardware& gb200 = add("gb200", "NVIDIA GB200 NVL72 datasheet, one of its 72 GPUs, dense rates, 2024");
  rates(gb200, 80, 2500, 5000, 148);
  memory(gb200, 186, 8000, 450);
  link(gb200, 721800);
  tile(gb200, 128, 256);
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

const Hardware* hardware_of_device(std::string_view device) {
  std::string lower(device);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  const Hardware* found = nullptr;
  for (const Hardware& hardware : hardware_presets()) {
    const std::size_t dash = hardware.name.find('-');
    if (lower.find(hardware.name.substr(0, dash)) == std::string::npos) continue;
    const bool memory = dash != std::string::npos && lower.find(hardware.name.substr(dash + 1) + "gb") < lower.size();
    if (found == nullptr || memory) found = &hardware;
  }
  return found;
}

}  // namespace debubble
