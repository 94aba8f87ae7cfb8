#include "profiler/records/range_text.hpp"

#include <array>
#include <cstddef>

#include "sim/core/numbers.hpp"

namespace debubble {

namespace {

constexpr std::string_view kSequence = "seq";
constexpr std::string_view kSizesKey = "sizes";
constexpr std::array<std::string_view, 5> kSuffixKeys = {kSequence, "stashed seq", "op_id", kSizesKey, "input_op_ids"};

// One ", key = value" of a text. `end` is where the value ends.
struct Suffix {
  std::string_view key;
  std::string_view value;
  std::size_t end = 0;
};

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  return at;
}

// The end of a value: the next comma outside of brackets.
std::size_t value_end(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c == ',' && depth <= 0) break;
  }
  return at;
}

// The suffix that begins with the comma at `comma`; its key is empty when that is no suffix.
Suffix suffix_at(std::string_view text, std::size_t comma) {
  const std::size_t begin = skip_blanks(text, comma + 1);
  for (const std::string_view key : kSuffixKeys) {
    if (text.substr(begin, key.size()) != key) continue;
    const std::size_t equals = skip_blanks(text, begin + key.size());
    if (equals >= text.size() || text[equals] != '=') continue;
    const std::size_t value = skip_blanks(text, equals + 1);
    const std::size_t end = value_end(text, value);
    return {key, text.substr(value, end - value), end};
  }
  return {};
}

void take_suffix(const Suffix& suffix, RangeText& parts) {
  if (suffix.key == kSizesKey) parts.sizes = suffix.value;
  if (suffix.key != kSequence && !suffix.key.starts_with("stashed")) return;
  std::string_view value = suffix.value;
  if (const auto number = take_whole<std::int64_t>(value); number && *number >= 0) parts.sequence = *number;
}

}  // namespace

RangeText parse_range_text(std::string_view text) {
  RangeText parts{.name = text, .sequence = -1, .sizes = {}};
  std::size_t comma = text.find(',');
  Suffix suffix;
  while (comma < text.size() && (suffix = suffix_at(text, comma)).key.empty()) comma = text.find(',', comma + 1);
  if (comma >= text.size()) return parts;
  parts.name = text.substr(0, comma);
  while (!suffix.key.empty()) {
    take_suffix(suffix, parts);
    suffix = suffix.end < text.size() ? suffix_at(text, suffix.end) : Suffix{};
  }
  return parts;
}

}  // namespace debubble
