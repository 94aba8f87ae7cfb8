#include "sim/core/numbers.hpp"

#include <charconv>
#include <cmath>

namespace debubble {
namespace {

template <typename Number, typename... Base>
std::optional<Number> take(std::string_view& text, Base... base) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

template <typename Whole>
std::optional<Whole> take_whole(std::string_view& text, int base) {
  return take<Whole>(text, base);
}

template <typename Whole>
std::optional<Whole> read_whole(std::string_view text) {
  const std::optional<Whole> value = take_whole<Whole>(text);
  return text.empty() ? value : std::nullopt;
}

template std::optional<std::int32_t> take_whole(std::string_view& text, int base);
template std::optional<std::uint32_t> take_whole(std::string_view& text, int base);
template std::optional<std::int64_t> take_whole(std::string_view& text, int base);
template std::optional<std::uint64_t> take_whole(std::string_view& text, int base);
template std::optional<std::int32_t> read_whole(std::string_view text);
template std::optional<std::uint32_t> read_whole(std::string_view text);
template std::optional<std::int64_t> read_whole(std::string_view text);
template std::optional<std::uint64_t> read_whole(std::string_view text);

std::optional<double> take_number(std::string_view& text) {
  std::string_view rest = text;
  const std::optional<double> value = take<double>(rest);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  text = rest;
  return value;
}

std::optional<double> number_of(std::string_view text) {
  const std::optional<double> value = take_number(text);
  return text.empty() ? value : std::nullopt;
}

}  // namespace debubble
