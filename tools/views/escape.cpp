#include "tools/views/escape.hpp"

#include <fmt/format.h>

#include "formats/text/printable.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// Valid UTF-8 in which everything shows, with what is not UTF-8 replaced byte by byte.
std::string as_utf8(std::string_view foreign) {
  const std::string visible = without_hidden_characters(foreign);
  std::string_view text = visible;
  std::string result;
  for (;;) {
    const auto bad = first_bad_utf8(text);
    if (!bad) return result.append(text);
    result.append(text.substr(0, *bad)).append(kReplacement);
    text.remove_prefix(*bad + 1);
  }
}

// U+FFFE and U+FFFF, of which XML takes none: EF BF BE and EF BF BF.
bool is_noncharacter(std::string_view text, std::size_t at) {
  const std::string_view head = text.substr(at, 3);
  return head == "\xef\xbf\xbe" || head == "\xef\xbf\xbf";
}

std::string xml_character(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&apos;";
    case '\n':
    case '\r':
    case '\t':
      return fmt::format("&#{};", static_cast<int>(c));  // bare, an attribute would turn them into blanks
    default:
      return static_cast<unsigned char>(c) < 0x20 ? std::string(kReplacement) : std::string(1, c);
  }
}

bool is_word(std::string_view text, std::size_t at) {
  if (at >= text.size()) return false;
  const char c = text[at];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// An underscore within a word marks nothing.
bool is_markup(std::string_view text, std::size_t at) {
  if (text[at] == '_') return at == 0 || !is_word(text, at - 1) || !is_word(text, at + 1);
  constexpr std::string_view kMarkup = "\\`*[]<#|&~@$";
  return kMarkup.find(text[at]) != std::string_view::npos;
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  const std::string clean = as_utf8(text);
  std::string result;
  for (std::size_t at = 0; at < clean.size(); ++at) {
    if (is_noncharacter(clean, at)) {
      result += kReplacement;
      at += 2;
    } else {
      result += xml_character(clean[at]);
    }
  }
  return result;
}

// A character reference is never taken for markup.
std::string markdown_escaped(std::string_view text) {
  const std::string clean = as_utf8(text);
  std::string result;
  for (std::size_t at = 0; at < clean.size(); ++at) {
    const auto byte = static_cast<unsigned char>(clean[at]);
    if (byte < 0x20 || byte == 0x7f) {
      result += ' ';
    } else if (is_markup(clean, at)) {
      result += fmt::format("&#{};", static_cast<int>(byte));
    } else {
      result += clean[at];
    }
  }
  return result;
}

std::string github_message(std::string_view text) {
  std::string result;
  for (const char c : as_utf8(text)) {
    if (c == '%') {
      result += "%25";
    } else if (c == '\r') {
      result += "%0D";
    } else if (c == '\n') {
      result += "%0A";
    } else {
      const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
      result += control ? printable(std::string_view(&c, 1)) : std::string(1, c);
    }
  }
  return result;
}

std::string github_property(std::string_view text) {
  std::string result;
  for (const char c : github_message(text)) {
    if (c == ':') {
      result += "%3A";
    } else if (c == ',') {
      result += "%2C";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace debubble
