// A drawing as PDF or PNG, by cairo, which is opened at run time: a machine without it has SVG, and the same binary.
//
// What is given of cairo are the few functions of its interface that figures need; it is the same since version 1.16
// (2018). Text is outlined by font.hpp, so no font of the machine takes part, and the same cairo gives the same bytes.
#pragma once

#include <string>

#include "tools/figures/drawing.hpp"

namespace debubble::figure {

// Its version and the file it was found in: "1.16.0 (libcairo.so.2)". Throws UnavailableError U065 where there is none;
// $DEBUBBLE_CAIRO names the library to take.
[[nodiscard]] std::string cairo_text();

// One page of the drawing's size; its date of creation is fixed. Throws UnavailableError U065, also where cairo fails.
[[nodiscard]] std::string pdf_of(const Drawing& drawing);

// `pixels`: how wide; the height follows. White where nothing is drawn. Throws as pdf_of.
[[nodiscard]] std::string png_of(const Drawing& drawing, int pixels);

// The height of such a picture.
[[nodiscard]] std::int64_t png_height(const Drawing& drawing, int pixels);

}  // namespace debubble::figure
