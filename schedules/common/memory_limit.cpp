#include "schedules/common/memory_limit.hpp"

#include <algorithm>

#include "schedules/common/request.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/split.hpp"
#include "sim/core/words.hpp"

namespace debubble {

namespace {

constexpr const char* kPlace = "--param memory_limit";
constexpr const char* kLimitHelp =
    "write activations of a device share (8 or 1.5), times p (1p, 2p), one of them per device (8,6,6,4), or a size "
    "(76GiB)";

Bytes fixed_bytes(const PlanningCosts& costs, std::size_t device) {
  return device < costs.static_bytes.size() ? costs.static_bytes[device] : 0;
}

struct LimitItem {
  Bytes bytes = 0;
  bool sized = false;
};

LimitItem read_limit_item(std::string_view whole, const PlanningCosts& costs, int devices) {
  const QuantityText text = split_quantity(whole);
  // Rounded down: a limit is kept, not nearly kept. What is beyond the largest size is as good as no limit.
  const auto times = [&](Bytes factor) {
    return std::min(*decimal_times(text.number, factor, Rounding::kDown), kLargestSize);
  };
  constexpr std::ptrdiff_t kMostDigits = 18;
  if (decimal_times(text.number, 1) && std::count_if(text.number.begin(), text.number.end(), is_digit) <= kMostDigits) {
    const Bytes whole_model = costs.activation_unit * devices + costs.activation_rest;
    if (text.unit == "p") return {times(whole_model), false};
    if (text.unit.empty() && costs.activation_rest == 0) return {times(costs.activation_unit), false};
    if (text.unit.empty()) return {times(whole_model) / devices, false};
    if (const auto factor = unit_factor(QuantityKind::kSize, text.unit)) return {times(*factor), true};
  }
  std::string bare = std::string(text.number) + std::string(text.unit);
  bare.erase(bare.find_last_not_of("pBkKMGTi ") + 1);
  if (number_of(bare).value_or(0) > 0) {
    const char* why = "\" is a number, but too large, too finely written or with an exponent, for a memory limit";
    fail("S006", kPlace, "\"" + std::string(whole) + why, kLimitHelp);
  }
  fail("S006", kPlace, "\"" + std::string(whole) + "\" is not a memory limit", kLimitHelp);
}

// Thousandths of the unit, rounded up, as people write them: "3", "3.25".
std::string rounded_up(Bytes bytes, Bytes unit) { return format_short(bytes, {"", unit, 3}, Rounding::kUp); }

std::string as_size(Bytes bytes) {
  const Scale scale = size_scale(bytes);
  return rounded_up(bytes, scale.divisor) + scale.unit;
}

// "2.00 MiB", as reports write sizes, rounded up.
std::string as_reported(Bytes bytes) {
  Scale scale = size_scale(std::max(bytes, *unit_factor("KiB")));
  scale.decimals = 2;
  return format_scaled(bytes, scale, Rounding::kUp) + " " + scale.unit;
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

void set_activation_unit(PlanningCosts& costs, Bytes all_stages, int devices) {
  costs.activation_unit = all_stages / std::max(devices, 1);
  costs.activation_rest = all_stages % std::max(devices, 1);
}

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
