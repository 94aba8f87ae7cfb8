// The letters of figures, as outlines: a figure needs no font where it is shown, and looks alike everywhere.
//
// They are those of DejaVu Sans Condensed (tools/figures/font): ASCII, Latin-1 and a few signs. Any other character is
// drawn as the sign for an unknown one; SVG has all text in its title and description, too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/figures/drawing.hpp"

namespace debubble::figure {

// How wide a line of UTF-8 text is.
[[nodiscard]] Length text_width(std::string_view words, Length size);

// The text cut to a width, with three dots at its end where something is missing.
[[nodiscard]] std::string cut_to(std::string_view words, Length width, Length size);

struct PathStep {
  enum class Kind : std::uint8_t { kMove, kLine, kCurve, kClose };
  Kind kind = Kind::kMove;
  Point control;  // of a curve, which is quadratic
  Point to;       // kClose: of no meaning
};

// The outline of a line of text that begins at (0, 0) on its base line.
[[nodiscard]] std::vector<PathStep> outline_of(std::string_view words, Length size);

// One character of a line, and where it begins.
struct PlacedGlyph {
  std::string character;  // as UTF-8; what the font does not have is U+FFFD
  Length x = 0;
};
[[nodiscard]] std::vector<PlacedGlyph> glyphs_of(std::string_view words, Length size);

}  // namespace debubble::figure
