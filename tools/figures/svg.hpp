// A drawing as SVG 1.1, which needs nothing but itself: no font, no script, no style sheet, no network.
//
// Written here, not by a library: all numbers are whole hundredths of a point, so that the bytes are the same on every
// machine and golden files can hold them. Text is outlined; title and description have the words.
#pragma once

#include <string>

#include "formats/files/text_sink.hpp"
#include "tools/figures/drawing.hpp"

namespace debubble::figure {

// `width` and `height` as the file says them: "85mm". Throws what `sink` throws.
void write_svg(const Drawing& drawing, const std::string& width, const std::string& height, const TextSink& sink);

// Hundredths without trailing zeros: 1250 -> "12.5".
[[nodiscard]] std::string hundredths(Length value);

}  // namespace debubble::figure
