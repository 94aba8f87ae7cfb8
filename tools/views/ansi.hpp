// ANSI escapes.
#pragma once

#include <string>
#include <string_view>

#include "formats/text/columns.hpp"

namespace debubble {

// `text` between the escape for `codes` ("1", "38;5;214", ...) and the reset; unchanged unless `color`.
[[nodiscard]] std::string paint(bool color, std::string_view codes, std::string_view text);

inline constexpr std::string_view kBold = "1";
inline constexpr std::string_view kDim = "2";
inline constexpr std::string_view kRed = "1;31";
inline constexpr std::string_view kYellow = "1;33";
inline constexpr std::string_view kCyan = "1;36";
inline constexpr std::string_view kGreen = "1;32";

}  // namespace debubble
