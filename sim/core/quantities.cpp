#include "sim/core/quantities.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {
namespace {

// What one family of quantities accepts.
struct UnitFamily {
  QuantityKind kind;
  std::string noun;
  std::string help;
  std::int64_t bare_factor;  // of a number without unit; 0: refused
  std::int64_t largest;
  const char* largest_text;
};

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

class QuantityParser {
 public:
  QuantityParser(const UnitFamily& family, std::string_view text, std::string_view place)
      : family_(family), text_(text), place_(place) {}

  std::int64_t run() const {
    const std::string_view text = without_blanks(text_);
    if (text.empty()) refuse("C065", "the " + family_.noun + " is empty");
    if (text.front() == '-') refuse("C012", "a " + family_.noun + " cannot be negative: " + quoted());
    const QuantityText parts = split_quantity(text);
    if (!decimal_times(parts.number, 1)) refuse("C011", quoted() + " is not a " + family_.noun);
    const std::int64_t value = *decimal_times(parts.number, factor_of(parts.unit));
    if (value <= family_.largest) return value;
    refuse("C012", "the " + family_.noun + " " + quoted() + " is larger than debubble can add up (" +
                       family_.largest_text + ")");
  }

 private:
  [[nodiscard]] std::string quoted() const { return "'" + std::string(text_) + "'"; }

  std::int64_t factor_of(std::string_view name) const {
    if (name.empty()) {
      if (family_.bare_factor == 0) refuse("C014", quoted() + " has no unit");
      return family_.bare_factor;
    }
    if (const auto factor = unit_factor(family_.kind, name)) return *factor;
    std::vector<std::string> names;
    for (const QuantityUnit& unit : kQuantityUnits) {
      std::string one(unit.name);
      if (family_.kind == QuantityKind::kBandwidth && unit.kind == QuantityKind::kSize) one += "/s";
      if (unit_factor(family_.kind, one)) names.push_back(std::move(one));
    }
    const std::string meant = unit_factor(name) ? "" : closest_name(name, names);  // ms is no misspelt MB
    refuse("C014", "'" + std::string(name) + "' is not a unit of a " + family_.noun +
                       (meant.empty() ? "" : "; did you mean '" + meant + "'?"));
  }

  [[noreturn]] void refuse(std::string code, std::string message) const {
    fail(std::move(code), std::string(place_), std::move(message), "write it like " + family_.help);
  }

  const UnitFamily& family_;
  std::string_view text_;
  std::string_view place_;
};

}  // namespace

QuantityText split_quantity(std::string_view text) {
  text = without_blanks(text);
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  return {text.substr(0, end), without_blanks(text.substr(end))};
}

Nanoseconds parse_duration(std::string_view text, std::string_view place, BareNumber bare) {
  const bool toy = bare == BareNumber::kToyUnits;
  const UnitFamily family{QuantityKind::kDuration,
                          "duration",
                          std::string("1.5ms, 601us or 2s") + (toy ? ", or 1.5 for 1.5 ms" : ""),
                          toy ? kNanosecondsPerMillisecond : 0,
                          kLongestDuration,
                          "52 days"};
  return QuantityParser(family, text, place).run();
}

Bytes parse_size(std::string_view text, std::string_view place, BareNumber bare) {
  const bool toy = bare == BareNumber::kToyUnits;
  const UnitFamily family{
      QuantityKind::kSize, "size",       std::string("76GiB, 352.1MB or 80GB") + (toy ? ", or 4 for 4 MiB" : ""),
      toy ? kMebibyte : 0, kLargestSize, "4 PiB"};
  return QuantityParser(family, text, place).run();
}

std::int64_t parse_bandwidth(std::string_view text, std::string_view place) {
  const UnitFamily family{
      QuantityKind::kBandwidth, "bandwidth", "50GB/s, 600GiB/s or 400Gbit/s", 0, kLargestSize, "4 PiB"};
  const std::int64_t value = QuantityParser(family, text, place).run();
  if (value == 0) {
    fail("C012", std::string(place), "the bandwidth must not be zero", "leave it out for links of unlimited bandwidth");
  }
  return value;
}

}  // namespace debubble
