#include "scenario/request/hardware_fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "cost_models/transformer/kernel_time.hpp"
#include "cost_models/transformer/modelled_profile.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

constexpr double kTeraScale = 1e12;
constexpr double kMostRate = 1e6;  // TFLOP/s
constexpr double kMostFigure = 4503599627370496.0;
constexpr double kLongestLaunch = 1e9;

constexpr std::array<std::pair<std::string_view, Source>, 4> kSourceWords{{{"measured", Source::kMeasured},
                                                                           {"published", Source::kPublished},
                                                                           {"modelled", Source::kModelled},
                                                                           {"assumed", Source::kDefault}}};

std::string in_units(double value, const std::vector<Scale>& units) {
  const std::int64_t whole = std::llround(value);
  for (const Scale& scale : units) {
    if (whole % scale.divisor == 0) return format_with_unit(whole, scale);
  }
  return std::to_string(whole);
}

// The decimal number whose product with `scale` is `value`, which a plain quotient may miss by one bit.
double quotient(double value, double scale) {
  const double near = value / scale;
  for (const double one : {near, std::nextafter(near, 0.0), std::nextafter(near, value)}) {
    if (one * scale == value) return one;
  }
  return near;
}

std::string without_blank(std::string text) {
  std::erase(text, ' ');
  return text;
}

std::string bytes_rate_text(double value) {
  // As bandwidths are written, down to the byte.
  if (std::fmod(value, 1e6) == 0) return format_short(std::llround(value), scale_of("GB/s", 3)) + " GB/s";
  return in_units(value, {scale_of("kB/s"), scale_of("B/s")});
}

std::string whole_size_text(double value) { return in_units(value, {scale_of("GiB"), scale_of("MiB"), scale_of("B")}); }

using Figures = HardwareFigures;
using Unit = FigureUnit;

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<HardwareField> make_hardware_fields() {
  return {
      {"peak_tflops", "fp32", "dense products", Unit::kTera, 1e-6, kMostRate, false,
       [](const Figures& all) { return all.hardware.fp32_flops; },
       [](Figures& all, double value) { all.hardware.fp32_flops = value; }, ""},
      {"peak_tflops", "bf16", "dense, bf16 and fp16", Unit::kTera, 1e-6, kMostRate, false,
       [](const Figures& all) { return all.hardware.half_flops; },
       [](Figures& all, double value) { all.hardware.half_flops = value; }, ""},
      {"peak_tflops", "fp8", "dense products", Unit::kTera, 1e-6, kMostRate, false,
       [](const Figures& all) { return all.hardware.fp8_flops; },
       [](Figures& all, double value) { all.hardware.fp8_flops = value; }, ""},
      {"processors", "count", "each runs tiles of products", Unit::kCount, 1, 1e6, false,
       [](const Figures& all) { return static_cast<double>(all.hardware.multiprocessors); },
       [](Figures& all, double value) { all.hardware.multiprocessors = static_cast<int>(value); },
       "products lose nothing to tiles and waves"},
      {"processors", "tile_rows", "of a product's output", Unit::kCount, 1, 65536, false,
       [](const Figures& all) { return static_cast<double>(all.hardware.tile_rows); },
       [](Figures& all, double value) { all.hardware.tile_rows = static_cast<int>(value); }, "128"},
      {"processors", "tile_columns", "of a product's output", Unit::kCount, 1, 65536, false,
       [](const Figures& all) { return static_cast<double>(all.hardware.tile_columns); },
       [](Figures& all, double value) { all.hardware.tile_columns = static_cast<int>(value); }, "128"},
      {"memory", "size", "", Unit::kSize, 1048576, kMostFigure, true,
       [](const Figures& all) { return static_cast<double>(all.hardware.memory); },
       [](Figures& all, double value) { all.hardware.memory = std::llround(value); }, ""},
      {"memory", "bandwidth", "", Unit::kBandwidth, 1e6, kMostFigure, true,
       [](const Figures& all) { return static_cast<double>(all.hardware.memory_bandwidth); },
       [](Figures& all, double value) { all.hardware.memory_bandwidth = std::llround(value); }, ""},
      {"host", "bandwidth", "one way", Unit::kBandwidth, 1e6, kMostFigure, false,
       [](const Figures& all) { return static_cast<double>(all.hardware.host_bandwidth); },
       [](Figures& all, double value) { all.hardware.host_bandwidth = std::llround(value); }, "24 GB/s, PCIe 4"},
      {"host", "launch", "of one kernel", Unit::kDuration, 0, kLongestLaunch, false,
       [](const Figures& all) { return static_cast<double>(all.hardware.host_launch.value_or(kEagerLaunch)); },
       [](Figures& all, double value) { all.hardware.host_launch = std::llround(value); },
       "62 us, as 720 runs of Megatron-DeepSpeed on A100 show"},
      {"link", "bandwidth", "one way", Unit::kBandwidth, 1e6, kMostFigure, false,
       [](const Figures& all) { return static_cast<double>(all.hardware.link_bandwidth); },
       [](Figures& all, double value) { all.hardware.link_bandwidth = std::llround(value); },
       "that of the link to the host"},
      {"link", "latency", "of one message", Unit::kDuration, 0, kLongestLaunch, false,
       [](const Figures& all) { return static_cast<double>(all.hardware.link_latency); },
       [](Figures& all, double value) { all.hardware.link_latency = std::llround(value); },
       "3.4 us, that of NVLink in NCCL's tuner"},
      {"link", "generation", "sets NCCL's latencies", Unit::kLinks, 0, 5, false,
       [](const Figures& all) { return all.links ? 1.0 + static_cast<double>(*all.links) : 0.0; },
       [](Figures& all, double value) {
         all.links.reset();
         if (value > 0) all.links = static_cast<LinkGeneration>(static_cast<int>(value) - 1);
       },
       ""},
      {"shares", "matrix", "of the peak, by products", Unit::kShare, 1e-4, 1, false,
       [](const Figures& all) { return all.shares.matrix; },
       [](Figures& all, double value) { all.shares.matrix = value; }, "the A100's"},
      {"shares", "sustained", "of the peak, in long runs", Unit::kShare, 1e-4, 1, false,
       [](const Figures& all) { return all.shares.sustained; },
       [](Figures& all, double value) { all.shares.sustained = value; }, "the A100's"},
      {"shares", "half_k", "where products reach half", Unit::kNumber, 0, 1e6, false,
       [](const Figures& all) { return all.shares.half_k; },
       [](Figures& all, double value) { all.shares.half_k = value; }, "the A100's"},
      {"shares", "attention", "of the peak, by attention", Unit::kShare, 1e-4, 1, false,
       [](const Figures& all) { return all.shares.attention; },
       [](Figures& all, double value) { all.shares.attention = value; }, "the A100's"},
      {"shares", "memory", "of the bandwidth, by passes", Unit::kShare, 1e-4, 1, false,
       [](const Figures& all) { return all.shares.memory; },
       [](Figures& all, double value) { all.shares.memory = value; }, "the A100's"},
      {"shares", "kernel_gap", "from kernel to kernel", Unit::kDuration, 0, kLongestLaunch, false,
       [](const Figures& all) { return static_cast<double>(all.shares.per_kernel); },
       [](Figures& all, double value) { all.shares.per_kernel = std::llround(value); }, "the A100's"},
      {"units", "mxfp8", "scales of 32 numbers", Unit::kSwitch, 0, 1, false,
       [](const Figures& all) { return all.hardware.mxfp8 ? 1.0 : 0.0; },
       [](Figures& all, double value) { all.hardware.mxfp8 = value > 0; }, ""},
      {"units", "structured_sparsity", "at twice the rate", Unit::kSwitch, 0, 1, false,
       [](const Figures& all) { return all.hardware.structured_sparsity ? 1.0 : 0.0; },
       [](Figures& all, double value) { all.hardware.structured_sparsity = value > 0; }, ""},
  };
}

}  // namespace

const std::vector<HardwareField>& hardware_fields() {
  static const std::vector<HardwareField> list = make_hardware_fields();
  return list;
}

HardwareFigures figures_of(const Hardware& hardware) {
  return {hardware, usual_efficiency(hardware), hardware_links(hardware)};
}

std::string figure_text(const HardwareField& field, double value) {
  switch (field.unit) {
    case FigureUnit::kTera:
      return plain(quotient(value, kTeraScale)) + " TFLOP/s";
    case FigureUnit::kSize:
      return whole_size_text(value);
    case FigureUnit::kBandwidth:
      return bytes_rate_text(value);
    case FigureUnit::kDuration:
      return format_duration_exact(std::llround(value));
    case FigureUnit::kSwitch:
      return value > 0 ? "yes" : "no";
    case FigureUnit::kLinks:
      return value > 0 ? to_string(static_cast<LinkGeneration>(static_cast<int>(value) - 1)) : "none";
    case FigureUnit::kCount:
    case FigureUnit::kShare:
    case FigureUnit::kNumber:
      break;
  }
  return plain(value);
}

Json figure_json(const HardwareField& field, double value) {
  switch (field.unit) {
    case FigureUnit::kTera:
      return quotient(value, kTeraScale);
    case FigureUnit::kCount:
      return static_cast<std::int64_t>(value);
    case FigureUnit::kShare:
    case FigureUnit::kNumber:
      return value;
    case FigureUnit::kSwitch:
      return value > 0;
    case FigureUnit::kLinks:
      return figure_text(field, value);
    case FigureUnit::kSize:
    case FigureUnit::kBandwidth:
    case FigureUnit::kDuration:
      break;
  }
  return without_blank(figure_text(field, value));
}

std::optional<LinkGeneration> links_named(const std::string& word) {
  for (const LinkGeneration one : {LinkGeneration::kPcie, LinkGeneration::kVolta, LinkGeneration::kAmpere,
                                   LinkGeneration::kHopper, LinkGeneration::kBlackwell}) {
    if (word == to_string(one)) return one;
  }
  return std::nullopt;
}

std::optional<HardwareSource> parse_hardware_source(const std::string& text) {
  for (const auto& [word, quality] : kSourceWords) {
    if (!text.starts_with(word) || text.size() <= word.size() || text[word.size()] != ':') continue;
    const std::size_t begin = text.find_first_not_of(' ', word.size() + 1);
    if (begin != std::string::npos) return HardwareSource{quality, text.substr(begin)};
  }
  return std::nullopt;
}

std::string source_word(Source quality) {
  const auto* const found = std::find_if(kSourceWords.begin(), kSourceWords.end(),
                                         [quality](const auto& one) { return one.second == quality; });
  return found == kSourceWords.end() ? "assumed" : std::string(found->first);
}

std::string hardware_source_text(const HardwareSource& source) {
  return source_word(source.quality) + ": " + (source.text.empty() ? "not said" : source.text);
}

}  // namespace debubble
