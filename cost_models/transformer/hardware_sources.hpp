// Where each figure of a piece of hardware comes from: what a file says of its own, and of a preset what this project
// knows.
//
// A figure is named as in files of hardware (docs/hardware.schema.json): "memory/bandwidth".
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cost_models/transformer/hardware.hpp"
#include "sim/core/assumption.hpp"

namespace debubble {

struct KernelTables;

struct HardwareSource {
  Source quality = Source::kDefault;
  std::string text;  // "NVIDIA H100 datasheet (SXM5)", "12 products on an L4", "that of the A100, for want of a figure"
};
using HardwareSources = std::map<std::string, HardwareSource, std::less<>>;

// Of a figure that nothing is said of: a default without words.
[[nodiscard]] HardwareSource source_of(const HardwareSources& sources, std::string_view figure);

// Hardware from a file: what a preset has by its name.
struct OwnHardware {
  std::string file;
  Efficiency shares;
  std::string shares_of;                       // the preset whose shares they are; empty: its own
  std::optional<LinkGeneration> links;         // whose latencies its collectives have
  std::shared_ptr<const KernelTables> tables;  // of a file beside; null: those that `kernels` names, or none
  std::string tables_file;                     // its name, as written
  HardwareSources sources;
};

// Of every figure that a file may have. Of own hardware, what its file says.
[[nodiscard]] HardwareSources hardware_sources(const Hardware& hardware);

}  // namespace debubble
