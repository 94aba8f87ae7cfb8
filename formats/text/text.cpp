#include "formats/text/text.hpp"

#include <algorithm>

namespace debubble {
namespace {

// Allowed ranges of the second byte of a UTF-8 sequence (Unicode 15, table 3-7) and the sequence's length.
struct Sequence {
  std::size_t length;
  unsigned char low;
  unsigned char high;
};

Sequence sequence_of(unsigned char lead) {
  if (lead < 0x80) return {1, 0x80, 0xBF};
  if (lead < 0xC2 || lead > 0xF4) return {0, 0x80, 0xBF};
  if (lead < 0xE0) return {2, 0x80, 0xBF};
  if (lead < 0xF0) {
    const unsigned char low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : 0xBF;
    return {3, low, high};
  }
  const unsigned char low = lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xF4 ? 0x8F : 0xBF;
  return {4, low, high};
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

std::string escape_of(char character) {
  switch (character) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(character);
  if (code >= 0x20) return {character};
  constexpr std::string_view kDigits = "0123456789abcdef";
  return std::string("\\u00") + kDigits[code >> 4U] + kDigits[code & 0xFU];
}

}  // namespace

std::optional<std::size_t> first_bad_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Sequence sequence = sequence_of(static_cast<unsigned char>(text[at]));
    if (sequence.length == 0 || at + sequence.length > text.size()) return at;
    if (sequence.length > 1) {
      const auto second = static_cast<unsigned char>(text[at + 1]);
      if (second < sequence.low || second > sequence.high) return at;
      for (std::size_t k = 2; k < sequence.length; ++k) {
        if (!is_continuation(text[at + k])) return at;
      }
    }
    at += sequence.length;
  }
  return std::nullopt;
}

std::string json_string(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const std::size_t good = first_bad_utf8(text).value_or(text.size());
    for (const char character : text.substr(0, good)) result += escape_of(character);
    if (good < text.size()) result += "\\ufffd";
    text.remove_prefix(std::min(good + 1, text.size()));
  }
  return result + "\"";
}

std::string shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  while (limit > 0 && is_continuation(text[limit])) --limit;
  return std::string(text.substr(0, limit)) + "...";
}

std::string in_quotes(std::string_view text) { return json_string(shortened(text)); }

std::string place_of(const std::string& name, std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return name + ":" + std::to_string(line) + ":" + std::to_string(column);
}

}  // namespace debubble
