#include "tools/figures/font.hpp"

#include <map>

#include "sim/core/numbers.hpp"
#include "tools/figures/font/glyphs.hpp"

namespace debubble::figure {

namespace {

constexpr char32_t kUnknown = 0xFFFD;
constexpr char32_t kDots = 0x2026;

struct Glyph {
  std::int64_t advance = 0;
  std::string_view outline;  // relative steps, in units of the em, y up
};

struct FontTable {
  std::string text;
  std::int64_t em = 1;
  std::map<char32_t, Glyph> glyphs;
};

std::int64_t number_at(std::string_view& text, int base = 10) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return take_whole<std::int64_t>(text, base).value_or(0);
}

FontTable read_table() {
  FontTable table;
  table.text = figure_glyphs();
  std::string_view rest = table.text;
  table.em = number_at(rest);
  rest.remove_prefix(1);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    const auto code = static_cast<char32_t>(number_at(line, 16));
    const std::int64_t advance = number_at(line);
    if (!line.empty()) line.remove_prefix(1);
    table.glyphs[code] = {advance, line};
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return table;
}

const FontTable& font_table() {
  static const FontTable table = read_table();  // its views are of its own text, which never moves
  return table;
}

const Glyph& glyph_of(char32_t code) {
  const auto& glyphs = font_table().glyphs;
  const auto found = glyphs.find(code);
  return found == glyphs.end() ? glyphs.at(kUnknown) : found->second;
}

// Takes one character off the front; what is no UTF-8 is an unknown one.
char32_t next_character(std::string_view& text) {
  const auto byte = [&text](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
  char32_t code = length == 1 ? first : first & (0xFFU >> (length + 1));
  bool broken = (length == 1 && first >= 0x80) || text.size() < length;
  for (std::size_t k = 1; k < length && !broken; ++k) {
    broken = (byte(k) & 0xC0U) != 0x80U;
    code = code << 6U | (byte(k) & 0x3FU);
  }
  text.remove_prefix(broken ? 1 : length);
  return broken ? kUnknown : code;
}

// Rounded to the nearest, halves up.
Length scaled(std::int64_t units, Length size) {
  const std::int64_t em = font_table().em;
  const std::int64_t doubled = 2 * units * size + em;
  return doubled >= 0 ? doubled / (2 * em) : -((-doubled + 2 * em - 1) / (2 * em));
}

std::int64_t units_of(std::string_view words) {
  std::int64_t units = 0;
  while (!words.empty()) units += glyph_of(next_character(words)).advance;
  return units;
}

void add_outline(const Glyph& glyph, std::int64_t pen, Length size, std::vector<PathStep>& path) {
  std::string_view rest = glyph.outline;
  std::int64_t x = pen;
  std::int64_t y = 0;
  std::int64_t start_x = x;
  std::int64_t start_y = y;
  const auto step_to = [&] {
    x += number_at(rest);
    y += number_at(rest);
    return Point{scaled(x, size), scaled(-y, size)};
  };
  while (!rest.empty()) {
    const char what = rest.front();
    rest.remove_prefix(1);
    if (what == 'z') {
      path.push_back({PathStep::Kind::kClose, {}, {}});
      x = start_x;
      y = start_y;
    } else if (what == 'q') {
      const std::int64_t dx = number_at(rest);
      const std::int64_t dy = number_at(rest);
      const Point control{scaled(x + dx, size), scaled(-(y + dy), size)};
      path.push_back({PathStep::Kind::kCurve, control, step_to()});
    } else {
      path.push_back({what == 'm' ? PathStep::Kind::kMove : PathStep::Kind::kLine, {}, step_to()});
    }
    if (what == 'm') {
      start_x = x;
      start_y = y;
    }
  }
}

}  // namespace

Length text_width(std::string_view words, Length size) { return scaled(units_of(words), size); }

std::string cut_to(std::string_view words, Length width, Length size) {
  if (text_width(words, size) <= width) return std::string(words);
  const std::int64_t dots = glyph_of(kDots).advance;
  std::string_view rest = words;
  std::int64_t units = 0;
  while (!rest.empty()) {
    std::string_view after = rest;
    units += glyph_of(next_character(after)).advance;
    if (scaled(units + dots, size) > width) break;
    rest = after;
  }
  return std::string(words.substr(0, words.size() - rest.size())) + "\u2026";
}

std::vector<PlacedGlyph> glyphs_of(std::string_view words, Length size) {
  std::vector<PlacedGlyph> placed;
  std::int64_t pen = 0;
  while (!words.empty()) {
    std::string_view rest = words;
    const char32_t code = next_character(rest);
    const bool known = font_table().glyphs.contains(code) && code != kUnknown;
    placed.push_back({known ? std::string(words.substr(0, words.size() - rest.size())) : "\uFFFD", scaled(pen, size)});
    pen += glyph_of(code).advance;
    words = rest;
  }
  return placed;
}

std::vector<PathStep> outline_of(std::string_view words, Length size) {
  std::vector<PathStep> path;
  std::int64_t pen = 0;
  while (!words.empty()) {
    const Glyph& glyph = glyph_of(next_character(words));
    add_outline(glyph, pen, size, path);
    pen += glyph.advance;
  }
  return path;
}

}  // namespace debubble::figure
