#include "tools/playground/engine/missing_cxx.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

const char* after_digits(const char* at, const char* last) { return std::find_if_not(at, last, is_digit); }

// Where the number ends that `first` begins with; `first` where it begins with none. No sign but a minus, no blanks, no
// hexadecimal digits: strtod takes more than std::from_chars does.
const char* end_of_number(const char* first, const char* last, std::chars_format format) {
  const char* at = first;
  if (at != last && *at == '-') ++at;
  for (const std::string_view word : {"infinity", "inf", "nan"}) {
    const auto same = [](char wanted, char c) { return wanted == std::tolower(static_cast<unsigned char>(c)); };
    if (static_cast<std::size_t>(last - at) >= word.size() && std::equal(word.begin(), word.end(), at, same)) {
      return at + word.size();
    }
  }
  const char* const whole = after_digits(at, last);
  const char* end = whole;
  if (whole != last && *whole == '.') {
    end = after_digits(whole + 1, last);
    if (whole == at && end == whole + 1) return first;  // "."
  } else if (whole == at) {
    return first;
  }
  if (format == std::chars_format::fixed || end == last || (*end != 'e' && *end != 'E')) return end;
  const char* power = end + 1;
  if (power != last && (*power == '+' || *power == '-')) ++power;
  const char* const power_end = after_digits(power, last);
  return power_end == power ? end : power_end;
}

// The fewest digits that give `value` again, as "d.ddde[+-]dd".
std::string shortest_digits(double value) {
  std::array<char, 64> text{};
  for (int digits = 0; digits <= 16; ++digits) {
    std::snprintf(text.data(), text.size(), "%.*e", digits, value);
    if (std::strtod(text.data(), nullptr) == value) break;
  }
  return text.data();
}

// The same digits without a power of ten.
std::string fixed_digits(double value, std::string_view shortest) {
  const std::size_t e = shortest.find('e');
  const int power = std::atoi(std::string(shortest.substr(e + 1)).c_str());
  const bool negative = shortest.front() == '-';
  const auto digits = static_cast<int>(e - (negative ? 1 : 0));
  const int decimals = std::max(0, (digits == 1 ? 0 : digits - 2) - power);
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

}  // namespace

namespace std {  // NOLINT(cert-dcl58-cpp)

from_chars_result from_chars(const char* first, const char* last, double& value, chars_format format) {
  const char* const end = end_of_number(first, last, format);
  if (end == first) return {first, errc::invalid_argument};
  const string text(first, end);
  errno = 0;
  const double read = strtod(text.c_str(), nullptr);
  const bool too_large = isinf(read) && errno == ERANGE;
  const bool too_small = errno == ERANGE && fabs(read) < 1;
  if (too_large || too_small) return {end, errc::result_out_of_range};
  value = read;
  return {end, errc()};
}

to_chars_result to_chars(char* first, char* last, double value) {
  string text;
  if (isfinite(value)) {
    text = shortest_digits(value);
    const string fixed = fixed_digits(value, text);
    if (fixed.size() <= text.size()) text = fixed;
  } else {
    text = isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  }
  if (last - first < static_cast<ptrdiff_t>(text.size())) return {last, errc::value_too_large};
  return {copy(text.begin(), text.end(), first), errc()};
}

}  // namespace std
