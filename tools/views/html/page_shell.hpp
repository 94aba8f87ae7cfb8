// What every HTML page holds besides its data: the bundle of tools/report, embedded by cmake/DebubbleEmbed.cmake.
#pragma once

#include <string>

namespace debubble {

[[nodiscard]] std::string page_script();
[[nodiscard]] std::string page_style();

}  // namespace debubble
