#include "scenario/job/hardware_facts.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cost_models/transformer/kernel_tables.hpp"
#include "cost_models/transformer/kernel_time.hpp"
#include "scenario/request/hardware_fields.hpp"

namespace debubble {
namespace {

// "memory/bandwidth" as reports say it.
std::string spoken_name(const HardwareField& field) {
  const std::string group = field.group;
  const std::string key = field.key;
  if (group == "peak_tflops") return key + " peak";
  if (group == "processors") return key == "count" ? "processors" : key == "tile_rows" ? "tile rows" : "tile columns";
  if (group == "memory") return key == "size" ? "device memory" : "memory bandwidth";
  if (group == "shares") return key == "kernel_gap" ? "kernel gap" : key == "half_k" ? "half k" : key + " share";
  if (group == "units") return key == "mxfp8" ? "mxfp8" : "2:4 sparsity";
  return group + " " + key;
}

Assumption fact_of(const Hardware& hardware, std::string key, std::string amount, std::string meaning,
                   const HardwareSource& source) {
  return {.key = std::move(key),
          .amount = std::move(amount),
          .source = source.quality,
          .subject = hardware.name,
          .meaning = std::move(meaning),
          .citation = source.text};
}

}  // namespace

std::vector<Assumption> hardware_facts(const Hardware& hardware) {
  std::vector<Assumption> facts;
  const HardwareFigures figures = figures_of(hardware);
  const HardwareSources sources = hardware_sources(hardware);
  for (const HardwareField& field : hardware_fields()) {
    const double value = field.get(figures);
    const auto source = sources.find(field.name());
    const bool is_switch = field.unit == FigureUnit::kSwitch || field.unit == FigureUnit::kLinks;
    if ((is_switch || field.least > 0) && value == 0 && (source == sources.end() || *field.without == '\0')) continue;
    facts.push_back(fact_of(hardware, spoken_name(field),
                            value == 0 && field.least > 0 ? "unknown" : figure_text(field, value), field.meaning,
                            source_of(sources, field.name())));
  }
  const bool beside = hardware.own != nullptr && hardware.own->tables != nullptr;
  if (beside || !hardware.kernels.empty()) {
    const std::string whose = beside ? hardware.own->tables_file : hardware.kernels;
    facts.push_back(fact_of(hardware, "kernels", whose, "measured", source_of(sources, "kernels/of")));
  }
  return facts;
}

HardwareQuality hardware_quality(const Hardware& hardware) {
  const HardwareSources sources = hardware_sources(hardware);
  // Of what decides most: rates and memory.
  std::vector<Source> found;
  const HardwareFigures figures = figures_of(hardware);
  for (const HardwareField& field : hardware_fields()) {
    const std::string_view group = field.group;
    if ((group != "peak_tflops" && group != "memory") || field.get(figures) == 0) continue;
    const Source quality = source_of(sources, field.name()).quality;
    if (std::find(found.begin(), found.end(), quality) == found.end()) found.push_back(quality);
  }
  std::sort(found.begin(), found.end());
  HardwareQuality made;
  for (const Source one : found) {
    made.figures += (made.figures.empty() ? "" : ", ") + source_word(one);
  }
  const bool beside = hardware.own != nullptr && hardware.own->tables != nullptr;
  if (beside || !hardware.kernels.empty()) {
    const HardwareSource source = source_of(sources, "kernels/of");
    made.kernels =
        source_word(source.quality) + ", " + (beside ? hardware.own->tables_file : "table of " + hardware.kernels);
    return made;
  }
  const HardwareSource shares = source_of(sources, "shares/matrix");
  const bool borrowed = hardware.own == nullptr && shares.quality == Source::kDefault;
  const std::string whose = hardware.own == nullptr ? std::string() : hardware.own->shares_of;
  made.kernels = source_word(shares.quality) + (borrowed        ? ", the A100's shares"
                                                : whose.empty() ? ", its own shares"
                                                                : ", shares of " + whose);
  return made;
}

}  // namespace debubble
