#include "formats/json/json_text.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "formats/files/text_sink.hpp"

namespace debubble {
namespace {

void append_integer(std::string& out, std::uint64_t value) {
  char digits[20];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, result.ptr);
}

// Takes the sign off, which also holds for the smallest number.
std::uint64_t append_sign(std::string& out, std::int64_t value) {
  if (value >= 0) return static_cast<std::uint64_t>(value);
  out += '-';
  return std::uint64_t{0} - static_cast<std::uint64_t>(value);
}

// Bytes of the UTF-8 sequence at the start of `text`, or 0 when it is not one (Unicode 15, table 3-7).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const bool overlong = lead == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool overlong = lead == 0xf0 && byte(1) < 0x90;
    const bool too_large = lead == 0xf4 && byte(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !overlong && !too_large ? 4 : 0;
  }
  return 0;
}

void append_ascii(std::string& out, char c) {
  constexpr char kHex[] = "0123456789abcdef";
  if (c == '"' || c == '\\') {
    out += {'\\', c};
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
    out += {'\\', 'u', '0', '0', kHex[(c >> 4) & 15], kHex[c & 15]};
  } else {
    out += c;
  }
}

}  // namespace

TextBuffer& TextBuffer::operator<<(std::int64_t number) {
  append_integer(text_, append_sign(text_, number));
  return *this;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) {
      out += "\\ufffd";
    } else if (length == 1) {
      append_ascii(out, text.front());
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

void append_json_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char digits[32];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, result.ptr);
}

void append_microseconds(std::string& out, Nanoseconds time) {
  const std::uint64_t ns = append_sign(out, time);
  append_integer(out, ns / 1000);
  const auto rest = static_cast<int>(ns % 1000);
  out += {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
          static_cast<char>('0' + rest % 10)};
}

void append_mebibytes(std::string& out, Bytes bytes) {
  constexpr std::uint64_t kMillion = 1'000'000;
  constexpr auto kOne = static_cast<std::uint64_t>(kMebibyte);
  const std::uint64_t size = append_sign(out, bytes);
  append_integer(out, size / kOne);
  // Never a whole million, for one byte is nearly a millionth.
  std::uint64_t rest = (size % kOne * kMillion + kOne / 2) / kOne;
  if (rest == 0) return;
  out += '.';
  for (std::uint64_t digit = kMillion / 10; rest > 0; digit /= 10) {
    out += static_cast<char>('0' + rest / digit);
    rest %= digit;
  }
}

}  // namespace debubble
