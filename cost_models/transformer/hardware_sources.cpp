#include "cost_models/transformer/hardware_sources.hpp"

#include <array>

#include "cost_models/transformer/kernel_time.hpp"

namespace debubble {
namespace {

// Presets some of whose data sheets' figures are known from memory alone, and which.
struct RecalledFigures {
  const char* name;
  bool rates, others;  // 16- and 8-bit rates and memory; 32-bit rate and multiprocessors
};
constexpr std::array<RecalledFigures, 6> kRecalledFigures{{{"a800", false, true},
                                                           {"h800", false, true},
                                                           {"h20", true, true},
                                                           {"b300", false, true},
                                                           {"gb300", false, true},
                                                           {"l40s", true, true}}};

bool has_nvlink(const Hardware& hardware) {
  const std::optional<LinkGeneration> links = hardware_links(hardware);
  return links && *links != LinkGeneration::kPcie;
}

// "stated; links: ...; recalled": the part that begins with `word`, without it; empty: there is none.
std::string source_part(const std::string& source, const std::string& word) {
  const std::size_t at = source.find(word);
  if (at == std::string::npos) return {};
  const std::size_t from = at + word.size();
  return source.substr(from, source.find("; ", from) - from);
}

// What a preset's source says before its links.
std::string stated_part(const std::string& source) { return source.substr(0, source.find("; links: ")); }

std::string link_text(const Hardware& hardware) {
  const std::string own = source_part(hardware.source, "; links: ");
  if (!own.empty()) return own;
  switch (hardware_links(hardware).value_or(LinkGeneration::kPcie)) {
    case LinkGeneration::kVolta:
      return "6 links at the 20 GB/s that NCCL takes for NVLink 2";
    case LinkGeneration::kAmpere:
      return "12 links at the 20 GB/s that NCCL takes for NVLink 3";
    case LinkGeneration::kHopper:
      return "18 links at the 20.6 GB/s that NCCL takes for NVLink 4";
    case LinkGeneration::kBlackwell:
      return "18 links at the 40.1 GB/s that NCCL takes for NVLink 5";
    case LinkGeneration::kPcie:
      break;
  }
  return "PCIe";
}

HardwareSource host_source(const Hardware& hardware) {
  constexpr std::int64_t kC2c = 400'000'000'000;
  if (hardware.host_bandwidth > kC2c) return {Source::kPublished, "NVLink-C2C to the CPU, nominal"};
  if (hardware.name == "tpu-v5p") return {Source::kDefault, "PCIe 4, for want of a figure"};
  return {Source::kModelled, "PCIe: NCCL's 12 GB/s of generation 3, doubled with each"};
}

void add_data_sheet(const Hardware& hardware, HardwareSources& made) {
  const HardwareSource stated{Source::kPublished, stated_part(hardware.source)};
  for (const char* figure : {"peak_tflops/bf16", "peak_tflops/fp8", "memory/size", "memory/bandwidth",
                             "peak_tflops/fp32", "processors/count"}) {
    made[figure] = stated;
  }
  for (const RecalledFigures& row : kRecalledFigures) {
    if (hardware.name != row.name) continue;
    const HardwareSource recalled{Source::kPublished, "data sheet's figure, recalled"};
    if (row.others) made["peak_tflops/fp32"] = made["processors/count"] = recalled;
    if (!row.rates) continue;
    for (const char* figure : {"peak_tflops/bf16", "peak_tflops/fp8", "memory/size", "memory/bandwidth"}) {
      made[figure] = {Source::kPublished, stated.text + ", recalled"};
    }
  }
}

}  // namespace

HardwareSource source_of(const HardwareSources& sources, std::string_view figure) {
  const auto found = sources.find(figure);
  return found == sources.end() ? HardwareSource{} : found->second;
}

HardwareSources hardware_sources(const Hardware& hardware) {
  if (hardware.own != nullptr) return hardware.own->sources;
  HardwareSources made;
  add_data_sheet(hardware, made);
  made["host/bandwidth"] = host_source(hardware);
  made["host/launch"] =
      hardware.host_launch
          ? HardwareSource{Source::kDefault, "one compiled program: no kernel is launched by itself"}
          : HardwareSource{Source::kDefault, "what 720 runs of Megatron-DeepSpeed on A100 show (VIA-Research/vTrain)"};
  const bool nccl = hardware_links(hardware).has_value();
  made["link/bandwidth"] = {nccl ? Source::kModelled : Source::kPublished, link_text(hardware)};
  made["link/latency"] = has_nvlink(hardware)
                             ? HardwareSource{Source::kPublished, "a step of a ring over NVLink in NCCL's tuner"}
                             : HardwareSource{Source::kDefault, "that of NVLink in NCCL's tuner, for want of a figure"};
  made["link/generation"] = {Source::kPublished, "its links"};
  made["processors/tile_rows"] =
      made["processors/tile_columns"] = {Source::kDefault, "what products are cut into, assumed"};
  if (!hardware.kernels.empty()) {
    made["kernels/of"] = {Source::kMeasured, "debubble's table, traces/kernels/" + hardware.kernels + ".csv"};
  }
  const std::string shares = efficiency_source(hardware);
  const Source quality = has_known_shares(hardware) ? Source::kModelled : Source::kDefault;
  for (const char* share : {"matrix", "sustained", "half_k", "attention", "memory"}) {
    made[std::string("shares/") + share] = {quality, shares};
  }
  made["shares/kernel_gap"] = {Source::kDefault, "between two kernels of a stream that is never empty, assumed"};
  made["units/structured_sparsity"] = made["units/mxfp8"] = {Source::kPublished, "the maker's description"};
  return made;
}

}  // namespace debubble
