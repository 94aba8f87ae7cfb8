#include "schedules/common/memory_limit.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "schedules/common/request.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"
#include "sim/core/wide.hpp"

namespace debubble {

namespace {

constexpr const char* kPlace = "--param memory_limit";
constexpr const char* kLimitHelp =
    "write activations of a device share (8 or 1.5), times p (1p, 2p), one of them per device (8,6,6,4), or a size "
    "(76GiB)";

struct LimitUnit {
  std::string_view name;
  Bytes bytes;
};

constexpr std::array<LimitUnit, 9> kUnits{{{"B", 1},
                                           {"kB", 1'000},
                                           {"MB", 1'000'000},
                                           {"GB", 1'000'000'000},
                                           {"TB", 1'000'000'000'000},
                                           {"KiB", Bytes{1} << 10},
                                           {"MiB", Bytes{1} << 20},
                                           {"GiB", Bytes{1} << 30},
                                           {"TiB", Bytes{1} << 40}}};

// A decimal without sign or exponent, exactly: digits / scale.
struct LimitDecimal {
  std::uint64_t digits = 0;
  std::uint64_t scale = 1;
};

std::optional<LimitDecimal> read_decimal(std::string_view text) {
  constexpr std::size_t kMostDigits = 18;
  LimitDecimal value;
  std::size_t digits = 0;
  bool fraction = false;
  for (const char c : text) {
    if (c == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (c < '0' || c > '9' || ++digits > kMostDigits) return std::nullopt;
    value.digits = value.digits * 10 + static_cast<std::uint64_t>(c - '0');
    if (fraction) value.scale *= 10;
  }
  if (digits == 0) return std::nullopt;
  return value;
}

// Rounded down: a limit is kept, not nearly kept. What is beyond the largest size is as good as no limit.
Bytes times(const LimitDecimal& value, Bytes factor) {
  const WideUnsigned product = WideUnsigned{value.digits} * static_cast<WideUnsigned>(factor) / value.scale;
  return static_cast<Bytes>(std::min(product, static_cast<WideUnsigned>(kLargestSize)));
}

bool is_positive_number(std::string_view text) { return number_of(text).value_or(0) > 0; }

std::string_view trimmed_item(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Bytes fixed_bytes(const PlanningCosts& costs, std::size_t device) {
  return device < costs.static_bytes.size() ? costs.static_bytes[device] : 0;
}

struct LimitItem {
  Bytes bytes = 0;
  bool sized = false;
};

LimitItem read_limit_item(std::string_view whole, const PlanningCosts& costs, int devices) {
  const std::string_view text = trimmed_item(whole);
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view unit = trimmed_item(text.substr(end));
  const std::optional<LimitDecimal> number = read_decimal(text.substr(0, end));
  if (number) {
    if (unit.empty()) return {times(*number, costs.activation_unit), false};
    if (unit == "p") return {times(*number, costs.activation_unit * devices), false};
    for (const LimitUnit& known : kUnits) {
      if (known.name == unit) return {times(*number, known.bytes), true};
    }
  }
  if (is_positive_number(text.substr(0, text.find_last_not_of("pBkKMGTi ") + 1))) {
    const char* why = "\" is a number, but too large, too finely written or with an exponent, for a memory limit";
    fail("S006", kPlace, "\"" + std::string(whole) + why, kLimitHelp);
  }
  fail("S006", kPlace, "\"" + std::string(whole) + "\" is not a memory limit", kLimitHelp);
}

// Thousandths of `unit`, rounded up, as people write them: "3", "3.25".
std::string rounded_up(Bytes bytes, Bytes unit) {
  const WideUnsigned thousandths =
      (static_cast<WideUnsigned>(bytes) * 1000 + static_cast<WideUnsigned>(unit) - 1) / static_cast<WideUnsigned>(unit);
  std::string text = std::to_string(static_cast<std::uint64_t>(thousandths / 1000));
  std::string fraction = std::to_string(static_cast<std::uint64_t>(thousandths % 1000) + 1000).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return fraction.empty() ? text : text + "." + fraction;
}

std::string as_size(Bytes bytes) {
  for (std::size_t k = kUnits.size() - 1; k > 4; --k) {
    if (bytes >= kUnits[k].bytes) return rounded_up(bytes, kUnits[k].bytes) + std::string(kUnits[k].name);
  }
  return std::to_string(bytes) + "B";
}

// "2.00 MiB", as reports write sizes, rounded up.
std::string as_reported(Bytes bytes) {
  std::size_t k = kUnits.size() - 1;
  while (k > 5 && bytes < kUnits[k].bytes) --k;
  const auto unit = static_cast<WideUnsigned>(kUnits[k].bytes);
  const auto hundredths = static_cast<std::uint64_t>((static_cast<WideUnsigned>(bytes) * 100 + unit - 1) / unit);
  return std::to_string(hundredths / 100) + "." + std::to_string(hundredths % 100 + 100).substr(1) + " " +
         std::string(kUnits[k].name);
}

// "2 device shares of activations (2.00 MiB)"
std::string in_both_units(Bytes activations, const PlanningCosts& costs) {
  if (costs.activation_unit == 0) return as_reported(activations) + " of activations";
  const std::string shares = rounded_up(activations, costs.activation_unit);
  return shares + (shares == "1" ? " device share" : " device shares") + " of activations (" +
         as_reported(activations) + ")";
}

// One device's limit in the form that the person used.
std::string as_written(Bytes activations, const MemoryLimit& limit, const PlanningCosts& costs, std::size_t device) {
  if (limit.sized || costs.activation_unit == 0) return as_size(activations + fixed_bytes(costs, device));
  return rounded_up(activations, costs.activation_unit);
}

}  // namespace

MemoryLimit memory_limit_of(const ScheduleRequest& request, const PlanningCosts& costs, std::string_view fallback) {
  MemoryLimit limit;
  const auto given = request.params.find("memory_limit");
  limit.text = given == request.params.end() ? std::string(fallback) : given->second;
  const std::vector<std::string> items = split(limit.text);
  const auto devices = static_cast<std::size_t>(request.devices);
  if (items.size() != 1 && items.size() != devices) {
    fail("S062", kPlace,
         "a list needs one limit for each of the " + std::to_string(devices) + " devices; got " +
             std::to_string(items.size()),
         "write one limit for all devices, or " + std::to_string(devices) + " joined by commas");
  }
  for (std::size_t d = 0; d < devices; ++d) {
    const LimitItem item = read_limit_item(items[items.size() == 1 ? 0 : d], costs, request.devices);
    const Bytes fixed = item.sized ? fixed_bytes(costs, d) : 0;
    limit.sized = limit.sized || item.sized;
    limit.sized_on.push_back(item.sized);
    if (item.bytes < fixed) {
      fail("S042", kPlace,
           "device " + std::to_string(d) + " holds " + as_size(fixed) +
               " of weights, gradients and other fixed state, more than the limit of " + as_size(item.bytes),
           "spread the model over more devices, or allow more than " + as_size(fixed));
    }
    limit.activations.push_back(item.bytes - fixed);
  }
  return limit;
}

void refuse_memory_limit(const std::string& schedule, const MemoryLimit& limit, const PlanningCosts& costs,
                         const std::vector<Bytes>& needed, const std::string& flag) {
  std::size_t short_of = 0;
  while (short_of + 1 < needed.size() && limit.activations[short_of] >= needed[short_of]) ++short_of;
  std::string smallest;
  if (limit.text.find(',') == std::string::npos) {
    std::size_t dearest = 0;
    const auto total = [&](std::size_t d) { return needed[d] + (limit.sized ? fixed_bytes(costs, d) : 0); };
    for (std::size_t d = 1; d < needed.size(); ++d) dearest = total(d) > total(dearest) ? d : dearest;
    smallest = as_written(needed[dearest], limit, costs, dearest);
  } else {
    for (std::size_t d = 0; d < needed.size(); ++d) {
      smallest += (d == 0 ? "" : ",") + as_written(std::max(needed[d], limit.activations[d]), limit, costs, d);
    }
  }
  fail("S042", kPlace,
       schedule + " does not work with " + in_both_units(limit.activations[short_of], costs) + " on device " +
           std::to_string(short_of) + "; it needs " + in_both_units(needed[short_of], costs) + " there",
       "smallest limit that works here: " + flag + "memory_limit=" + smallest);
}

}  // namespace debubble
