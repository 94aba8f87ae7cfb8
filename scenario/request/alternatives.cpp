#include "scenario/request/alternatives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <unordered_set>

#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/split.hpp"

namespace debubble {

namespace {

constexpr std::size_t kMostDecimals = 9;
constexpr std::int64_t kMostRounds = std::int64_t{100} * kMostAlternatives;  // of a factor
constexpr std::int64_t kLargest = 1'000'000'000'000'000;

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

// "1.25GiB": 125 with two decimals, and its unit.
struct Amount {
  std::int64_t digits = 0;
  int decimals = 0;
  std::string unit;

  [[nodiscard]] double value() const { return static_cast<double>(digits) / std::pow(10.0, decimals); }
};

std::int64_t power_of_ten(int decimals) { return decimals == 0 ? 1 : 10 * power_of_ten(decimals - 1); }

// Nothing where it does not begin like a number, or its digits are too many.
std::optional<Amount> amount_of(std::string_view text) {
  const QuantityText parts = split_quantity(text);
  const std::size_t point = parts.number.find('.');
  const std::size_t decimals = point == std::string_view::npos ? 0 : parts.number.size() - point - 1;
  if (decimals > kMostDecimals || parts.unit.find_first_of("0123456789.:=+*,") != std::string_view::npos) return {};
  Amount amount{0, static_cast<int>(decimals), std::string(parts.unit)};
  const auto digits = decimal_times(parts.number, power_of_ten(amount.decimals));
  if (!digits || *digits > 10 * kLargest) return std::nullopt;
  amount.digits = *digits;
  return amount;
}

// False where it has too many digits then.
bool rescale(Amount& amount, int decimals) {
  for (; amount.decimals < decimals; ++amount.decimals) {
    if (amount.digits > kLargest * 100) return false;
    amount.digits *= 10;
  }
  return true;
}

std::string range_text(std::int64_t digits, int decimals, const std::string& unit) {
  return format_short(digits, {"", power_of_ten(decimals), decimals}) + unit;
}

// A range as typed: FROM:TO, FROM:TO:+STEP, FROM:TO:*FACTOR.
class AlternativeRange {
 public:
  // Nothing where it is none.
  static std::optional<AlternativeRange> read(std::string_view text) {
    const std::vector<std::string> parts = split(text, ':');
    if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
    const std::optional<Amount> from = amount_of(trimmed(parts[0]));
    const std::optional<Amount> to = amount_of(trimmed(parts[1]));
    if (!from || !to) return std::nullopt;
    return AlternativeRange{*from, *to, parts.size() == 3 ? trimmed(parts[2]) : ""};
  }

  void append_to(std::vector<std::string>& values, const Flag& flag, const std::string& text) {
    place_ = flag.name;
    text_ = text;
    if (from_.unit.empty()) from_.unit = to_.unit;
    if (from_.unit != to_.unit) refuse("its ends have two units", "write both ends in one unit");
    Amount step{1, 0, from_.unit};
    const bool factor = step_.starts_with("*");
    if (!step_.empty()) step = read_step(factor);
    const int decimals = std::max({from_.decimals, to_.decimals, factor ? 0 : step.decimals});
    scale_ends(decimals);
    if (from_.digits > to_.digits) refuse("it begins above its end", "write the smaller number first");
    if (!factor && !rescale(step, decimals)) refuse_digits();
    factor ? multiply(values, step.value()) : add(values, step.digits);
  }

 private:
  AlternativeRange(Amount from, Amount to, std::string step)
      : from_(std::move(from)), to_(std::move(to)), step_(std::move(step)) {}

  [[noreturn]] void refuse(const std::string& why, const std::string& help) const {
    fail("C006", place_, "the range \"" + text_ + "\" has no values: " + why, help);
  }

  [[noreturn]] void refuse_digits() const { refuse("its numbers have too many digits", "use shorter numbers"); }

  void scale_ends(int decimals) {
    if (!rescale(from_, decimals) || !rescale(to_, decimals)) refuse_digits();
  }

  [[nodiscard]] Amount read_step(bool factor) const {
    constexpr const char* kHelp = "write it like 2:16:+2 or 8:64:*2";
    const std::optional<Amount> step = amount_of(trimmed(std::string_view(step_).substr(1)));
    if ((!factor && step_[0] != '+') || !step) refuse("\"" + step_ + "\" is neither +STEP nor *FACTOR", kHelp);
    const bool has_unit = factor ? step->unit.empty() : step->unit.empty() || step->unit == from_.unit;
    if (!has_unit) refuse("its step has another unit", factor ? "a factor has no unit" : "write the ends' unit");
    if (factor ? step->value() <= 1 : step->digits <= 0) {
      refuse("\"" + step_ + "\" never leads to its end", factor ? "use a factor above 1" : "use a step above 0");
    }
    return *step;
  }

  void take(std::vector<std::string>& values, std::int64_t digits) const {
    if (values.size() >= static_cast<std::size_t>(kMostAlternatives)) {
      fail("C012", place_, "\"" + text_ + "\" has more than " + std::to_string(kMostAlternatives) + " values",
           "use a larger step");
    }
    values.push_back(range_text(digits, from_.decimals, from_.unit));
  }

  void add(std::vector<std::string>& values, std::int64_t step) const {
    for (std::int64_t digits = from_.digits; digits <= to_.digits; digits += step) take(values, digits);
  }

  // Whole numbers stay whole: 8:64:*1.5 is 8, 12, 18, 27, 41, 61, each the nearest to 8 x 1.5^k.
  void multiply(std::vector<std::string>& values, double factor) {
    if (from_.digits == 0) refuse("no factor leads away from 0", "begin above 0");
    const bool whole = from_.decimals == 0 && from_.unit.empty();
    if (!whole) {
      scale_ends(std::max(from_.decimals, 6));
    }
    std::int64_t last = -1;
    auto exact = static_cast<double>(from_.digits);
    std::int64_t rounds = 0;
    for (; exact <= static_cast<double>(to_.digits) + 0.5; exact *= factor) {
      if (++rounds > kMostRounds) {
        fail("C012", place_,
             "\"" + text_ + "\" needs more than " + std::to_string(kMostRounds) + " steps to reach its end",
             "use a larger factor");
      }
      const std::int64_t digits = std::llround(exact);
      if (digits > to_.digits) break;
      if (digits != last) take(values, digits);
      last = digits;
    }
  }

  Amount from_;
  Amount to_;
  std::string step_;
  std::string place_;
  std::string text_;
};

// "group" of "group=4"; empty where there is none.
std::string key_in(std::string_view item) {
  const std::size_t equals = item.find('=');
  return equals == std::string_view::npos ? "" : trimmed(item.substr(0, equals));
}

std::vector<std::string> items_of(const Flag& flag, std::string_view text) {
  const bool semicolons = text.find(';') != std::string_view::npos;
  if (!semicolons && (flag.form != FlagForm::kPlain || text.find(',') == std::string_view::npos)) {
    return {trimmed(text)};
  }
  std::vector<std::string> items;
  for (const std::string& item : split(text, semicolons ? ';' : ',')) items.push_back(trimmed(item));
  if (semicolons && items.size() > 1 && items.back().empty()) items.pop_back();
  return items;
}

std::string switch_value(const Flag& flag, const std::string& item) {
  if (item == "on" || item == "true") return "true";
  if (item == "off" || item == "false") return "false";
  fail("C002", std::string(flag.name), "\"" + item + "\" is neither on nor off",
       "write it like " + std::string(flag.name) + " off,on");
}

void append_item(const Flag& flag, const std::string& key, const std::string& item, std::vector<std::string>& values) {
  const std::string own_key = flag.form == FlagForm::kKeyed ? key_in(item) : "";
  const std::string value = own_key.empty() ? item : trimmed(std::string_view(item).substr(item.find('=') + 1));
  const std::string& used_key = own_key.empty() ? key : own_key;
  const std::size_t first = values.size();
  std::optional<AlternativeRange> range = AlternativeRange::read(value);
  if (range) {
    range->append_to(values, flag, value);
  } else {
    values.push_back(value);
  }
  if (used_key.empty()) return;
  for (std::size_t k = first; k < values.size(); ++k) values[k].insert(0, used_key + "=");
}

}  // namespace

std::vector<std::string> alternatives_of(const Flag& flag, std::string_view text) {
  std::vector<std::string> values;
  const std::vector<std::string> items = items_of(flag, text);
  const std::string key = flag.form == FlagForm::kKeyed ? key_in(items.front()) : "";
  for (const std::string& item : items) {
    if (item.empty()) {
      fail("C006", std::string(flag.name), fmt::format("\"{}\" has an empty value", text),
           "leave no value out between two separators");
    }
    if (is_switch(flag)) {
      values.push_back(switch_value(flag, item));
    } else {
      append_item(flag, key, item, values);
    }
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& value : values) {
    if (!seen.insert(value).second) {
      fail("C007", std::string(flag.name), fmt::format("the value {} is there twice", value), "give each value once");
    }
  }
  return values;
}

}  // namespace debubble
