#include "formats/text/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "formats/text/text.hpp"

namespace debubble {
namespace {

struct CodeRange {
  char32_t first;
  char32_t last;
};

// Joiners (U+200C, U+200D) stay: words of some languages need them.
constexpr std::array<CodeRange, 10> kHidden{{
    {0x80, 0x9f},        // C1 controls
    {0x61c, 0x61c},      // Arabic letter mark
    {0x200b, 0x200b},    // zero width space
    {0x200e, 0x200f},    // marks of direction
    {0x2028, 0x202e},    // line and paragraph separator, embeddings and overrides of direction
    {0x2060, 0x206f},    // word joiner, isolates of direction, deprecated formats
    {0xfeff, 0xfeff},    // byte order mark
    {0xfff9, 0xfffb},    // interlinear annotation
    {0xfffe, 0xffff},    // no characters
    {0xe0000, 0xe0fff},  // tags, variation selectors
}};

bool is_hidden(char32_t code) {
  return std::any_of(kHidden.begin(), kHidden.end(),
                     [&](const CodeRange& range) { return range.first <= code && code <= range.last; });
}

bool is_xml_noncharacter(char32_t code) { return code == 0xfffe || code == 0xffff; }

struct Character {
  char32_t code;
  std::size_t length;
};

// `text` begins with well-formed UTF-8.
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  char32_t code = lead & (0x7fU >> length);
  for (std::size_t k = 1; k < length; ++k) code = code << 6U | (static_cast<unsigned char>(text[k]) & 0x3fU);
  return {code, length};
}

void append_code(char32_t code, std::string& to) {
  const auto number = static_cast<std::uint32_t>(code);
  to += code > 0xffff ? fmt::format("\\U{:08x}", number) : fmt::format("\\u{:04x}", number);
}

// Bytes of a colour as ansi.hpp writes it, ESC [ digits and semicolons m, or 0. Concealed text (8) is none.
std::size_t length_of_colour(std::string_view text) {
  if (!text.starts_with("\033[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  if (end == std::string_view::npos || text[end] != 'm') return 0;
  const std::string_view codes = text.substr(2, end - 2);
  return codes == "8" || codes.starts_with("8;") || codes.ends_with(";8") ? 0 : end + 1;
}

enum class KeptText { kNothing, kLines, kLinesAndColours };

bool is_printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c != 0x7f; });
}

std::string make_visible(std::string_view text, KeptText keep) {
  if (is_printable_ascii(text)) return std::string(text);
  std::string result;
  std::size_t bad = first_bad_utf8(text).value_or(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (at == bad) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at++]));
      bad = at + first_bad_utf8(text.substr(at)).value_or(text.size() - at);
      continue;
    }
    const Character character = first_character(text.substr(at));
    const bool is_line = character.code == '\n' || character.code == '\t';
    const std::size_t colour = keep == KeptText::kLinesAndColours ? length_of_colour(text.substr(at)) : 0;
    const std::size_t length = std::max(colour, character.length);
    if (colour > 0 || (is_line && keep != KeptText::kNothing)) {
      result += text.substr(at, length);
    } else if (character.code < 0x20 || character.code == 0x7f) {
      result += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(character.code));
    } else if (is_hidden(character.code)) {
      append_code(character.code, result);
    } else {
      result += text.substr(at, length);
    }
    at += length;
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return make_visible(text, KeptText::kNothing); }

std::string printable_lines(std::string_view text, bool colored) {
  return make_visible(text, colored ? KeptText::kLinesAndColours : KeptText::kLines);
}

std::string without_hidden_characters(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t good = first_bad_utf8(text).value_or(text.size());
    for (std::size_t at = 0; at < good;) {
      const Character character = first_character(text.substr(at));
      if (is_hidden(character.code) && !is_xml_noncharacter(character.code)) {
        append_code(character.code, result);
      } else {
        result += text.substr(at, character.length);
      }
      at += character.length;
    }
    result += text.substr(good, 1);
    text.remove_prefix(std::min(good + 1, text.size()));
  }
  return result;
}

}  // namespace debubble
