// The figures of hardware, one row each: what a file of hardware may say, `list` and `explain hardware` show, and
// reports say of hardware from a file.
#pragma once

#include <string>
#include <vector>

#include "cost_models/transformer/hardware_sources.hpp"
#include "formats/json/json.hpp"

namespace debubble {

enum class FigureUnit : std::uint8_t { kTera, kCount, kSize, kBandwidth, kDuration, kShare, kNumber, kSwitch, kLinks };

// A piece of hardware as its file has it: what stands in `own` of a preset's is known by its name.
struct HardwareFigures {
  Hardware hardware;
  Efficiency shares;
  std::optional<LinkGeneration> links;
};

struct HardwareField {
  const char* group;  // "memory"
  const char* key;    // "bandwidth"
  const char* meaning;
  FigureUnit unit;
  double least, most;
  bool required;
  // Numbers as the model has them (per second, bytes, nanoseconds); switches are 0 or 1, links 1 + their generation.
  // 0 of a figure that may be missing says that it is.
  double (*get)(const HardwareFigures& figures);
  void (*set)(HardwareFigures& figures, double value);
  const char* without;  // what holds where the file lacks it; "": it is then not there

  [[nodiscard]] std::string name() const { return std::string(group) + "/" + key; }
};

[[nodiscard]] const std::vector<HardwareField>& hardware_fields();

[[nodiscard]] HardwareFigures figures_of(const Hardware& hardware);

// "989.4 TFLOP/s", "80 GiB", "yes": exactly what a file would say, with its unit.
[[nodiscard]] std::string figure_text(const HardwareField& field, double value);
// As a file has it: 989.4, "80GiB", true. Reading it gives `value` back, to the last bit.
[[nodiscard]] Json figure_json(const HardwareField& field, double value);

// "NVLink 4" and so on; nothing for other words.
[[nodiscard]] std::optional<LinkGeneration> links_named(const std::string& word);

// "measured", "published", "modelled" or "assumed".
[[nodiscard]] std::string source_word(Source quality);
// "published: NVIDIA's data sheet"; nothing where it says neither how certain nor where from.
[[nodiscard]] std::optional<HardwareSource> parse_hardware_source(const std::string& text);
[[nodiscard]] std::string hardware_source_text(const HardwareSource& source);

}  // namespace debubble
