#include "formats/json/json_fault.hpp"

#include <array>
#include <cctype>

#include "formats/text/text.hpp"

namespace debubble {
namespace {

bool is_in_string(std::string_view before) {
  bool quoted = false;
  for (std::size_t at = 0; at < before.size(); ++at) {
    if (quoted && before[at] == '\\')
      ++at;
    else if (before[at] == '"')
      quoted = !quoted;
  }
  return quoted;
}

std::string code_point(char c) {
  constexpr char kHex[] = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  return {'0', '0', kHex[byte >> 4U], kHex[byte & 15U]};
}

JsonFault fault_in_string(std::string_view text, std::size_t offset) {
  const char c = text[offset];
  if (c == '\n' || c == '\r') return {"a string does not end on its line", "end it, or write the line's end as \\n"};
  if (static_cast<unsigned char>(c) < 0x20) {
    return {"the control character U+" + code_point(c) + " in a string", "write it as \\u" + code_point(c)};
  }
  const std::size_t slash = text.substr(0, offset).rfind('\\');
  if (slash == std::string_view::npos || offset - slash > 5) return {};
  const std::string escape(text.substr(slash, offset + 1 - slash));
  return {"the escape " + in_quotes(escape) + " in a string is none of JSON's",
          "a backslash itself is \\\\; the others are \\\" \\/ \\b \\f \\n \\r \\t and \\uXXXX"};
}

struct ForeignWord {
  std::string_view word;
  const char* help;
};
constexpr std::array<ForeignWord, 7> kForeignWords{{{"NaN", "write null, or the number that was meant"},
                                                    {"Infinity", "write null, or the number that was meant"},
                                                    {"nan", "write null, or the number that was meant"},
                                                    {"inf", "write null, or the number that was meant"},
                                                    {"None", "write null"},
                                                    {"True", "write true"},
                                                    {"False", "write false"}}};

// The word around that character: parsers stop inside of "nan".
JsonFault foreign_word(std::string_view text, std::size_t offset) {
  const auto letter = [&](std::size_t at) { return std::isalpha(static_cast<unsigned char>(text[at])) != 0; };
  std::size_t begin = offset;
  while (begin > 0 && letter(begin - 1)) --begin;
  std::size_t end = offset;
  while (end < text.size() && letter(end)) ++end;
  const std::string_view word = text.substr(begin, end - begin);
  for (const ForeignWord& known : kForeignWords) {
    if (word == known.word) return {std::string(word) + " is no value of JSON", known.help};
  }
  return {};
}

}  // namespace

JsonFault json_fault(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) return {};
  const std::string_view before = text.substr(0, offset);
  if (is_in_string(before)) return fault_in_string(text, offset);
  const char c = text[offset];
  const std::size_t last = before.find_last_not_of(" \t\r\n");
  const char previous = last == std::string_view::npos ? '\0' : before[last];
  const bool waits = std::string_view("[{,:").find(previous) != std::string_view::npos && previous != '\0';
  if (c == ',' && waits) return {"a comma where a value is expected", "remove it, or write the value before it"};
  if ((c == ']' || c == '}') && previous == ',') return {"a comma before a closing bracket", "remove the comma"};
  if (c == '\'') return {"a text in single quotes", "write it in double quotes"};
  if (c == '/' || c == '#') return {"a comment, which JSON does not have", "remove it"};
  if (static_cast<unsigned char>(c) < 0x20) {
    return {"the control character U+" + code_point(c), "remove it"};
  }
  return foreign_word(text, offset);
}

}  // namespace debubble
