// The table of outlines that tools/figures/font/make writes, embedded by cmake/DebubbleEmbed.cmake.
#pragma once

#include <string>

namespace debubble {

[[nodiscard]] std::string figure_glyphs();

}  // namespace debubble
