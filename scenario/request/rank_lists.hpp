// Lists on the command line that say which rank is where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/rank_layout.hpp"

namespace debubble {

// "tp,cp,dp,pp" in any order, nearest first. Each of them once; cp may be left out: then it follows tp.
// Throws InputError B015.
[[nodiscard]] std::vector<Dimension> parse_rank_order(std::string_view text, const std::string& place);

// "0-7,16-23,5": device numbers in this order, each once. Throws InputError B015.
[[nodiscard]] std::vector<std::int32_t> parse_device_list(std::string_view text, const std::string& place);

}  // namespace debubble
