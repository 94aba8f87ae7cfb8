// Hardware as `list hardware` and `explain hardware` show it.
//
//     hardware  bf16  fp8  memory  GB/s  figures    kernels
//     h100     989.4  ...  80 GiB  3350  published  measured, table of h100
#pragma once

#include <string>

#include "cost_models/transformer/hardware.hpp"
#include "formats/json/json.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// All presets, a line each.
[[nodiscard]] std::string hardware_list_text(const ViewStyle& style);
// Every figure, how certain it is and where it is from.
[[nodiscard]] std::string hardware_text(const Hardware& hardware, const ViewStyle& style);
// {"name", "summary", "figures": [{"what", "value", "meaning", "source", "citation"}]}
[[nodiscard]] Json hardware_json(const Hardware& hardware);

}  // namespace debubble
