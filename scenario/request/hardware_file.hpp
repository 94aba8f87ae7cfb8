// Files of hardware, `debubble.hardware/1` (docs/hardware.md, docs/hardware.schema.json): a GPU's figures, each with
// who says so.
//
//     {"format": "debubble.hardware/1", "name": "my-gpu",
//      "peak_tflops": {"bf16": {"value": 400, "source": "published: the maker's data sheet"}},
//      "memory": {"size": {"value": "64GiB", "source": "..."}, "bandwidth": {"value": "2TB/s", "source": "..."}}}
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cost_models/transformer/hardware_sources.hpp"
#include "cost_models/transformer/kernel_tables.hpp"

namespace debubble {

inline constexpr std::string_view kHardwareFormat = "debubble.hardware/1";
inline constexpr std::size_t kMostHardwareBytes = std::size_t{1} << 18;

// What a file may call its hardware, a preset's names among them: letters, digits, '-', '_' and '.', at most 60.
[[nodiscard]] bool is_hardware_name(const std::string& name);

// Whether --hardware names a file: it ends in .json, or holds a slash.
[[nodiscard]] bool is_hardware_file(std::string_view name);

// The table of kernels in a file of that name beside the hardware's. Throws InputError.
using TableBeside = std::function<std::shared_ptr<const KernelTables>(const std::string& file)>;

// Strict: unknown keys, wrong types and units, figures without a source, a preset's name are errors (P001 to P022, C0xx
// of quantities), each with "name#/json/pointer" and a remedy, all of the file's and its table's at once.
[[nodiscard]] Hardware read_hardware(std::string_view text, const std::string& name, const TableBeside& beside);
// The same from a file, whose table lies beside it. Throws InputError C005 when one cannot be read; `place` is what
// names the file: "--hardware".
[[nodiscard]] Hardware read_hardware_file(const std::string& path, const std::string& place);

// A preset, or a file (is_hardware_file). Throws InputError C003 for other names, and what read_hardware_file throws.
[[nodiscard]] std::shared_ptr<const Hardware> hardware_named(const std::string& name, const std::string& place);

// Everything it has, as a file of that name: what is modelled with the file is what is modelled with `hardware`.
[[nodiscard]] std::string write_hardware(const Hardware& hardware, const std::string& name);
// With figures and sources of one's own; `table`: the file beside, empty: the table that `hardware.kernels` names.
struct HardwareFigures;
[[nodiscard]] std::string write_hardware(const HardwareFigures& figures, const HardwareSources& sources,
                                         const std::string& name, const std::string& table);

}  // namespace debubble
