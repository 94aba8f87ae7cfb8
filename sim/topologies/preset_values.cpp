#include "sim/topologies/preset_values.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/core/keyed_list.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "sim/topologies/catalog.hpp"

namespace debubble {

namespace {

// Exactly, and nothing where it is beyond the bounds.
std::optional<std::int64_t> parse_value(const TopologyParam& param, std::string_view text) {
  const QuantityText parts = split_quantity(text);
  const bool bare = parts.unit.empty();
  std::optional<std::int64_t> factor;
  if (param.kind == TopologyParam::Kind::kRate) factor = unit_factor(QuantityKind::kBandwidth, parts.unit);
  if (param.kind == TopologyParam::Kind::kTime) factor = unit_factor(QuantityKind::kDuration, parts.unit);
  if (param.kind == TopologyParam::Kind::kCount && bare) return read_whole_within(text, param.least, param.most);
  if (param.kind == TopologyParam::Kind::kRatio && bare) factor = 1000;
  const auto value = factor ? decimal_times(parts.number, *factor) : std::nullopt;
  return value && *value >= param.least && *value <= param.most ? value : std::nullopt;
}

std::string wanted(const TopologyParam& param) {
  const std::string range =
      " from " + preset_value_text(param.kind, param.least) + " to " + preset_value_text(param.kind, param.most);
  switch (param.kind) {
    case TopologyParam::Kind::kRate:
      return "a rate of at least 1 B/s, like 50GB/s or 400Gbit/s";
    case TopologyParam::Kind::kTime:
      return "a time, like 500ns or 1.8us";
    case TopologyParam::Kind::kCount:
      return "a whole number" + range;
    case TopologyParam::Kind::kRatio:
      return "a number" + range;
  }
  return {};
}

std::string with_eight_units(const TopologyEntry& entry) {
  const std::string::size_type n = entry.form.find(":N");
  if (n == std::string::npos) return entry.form;
  return entry.form.substr(0, n) + ":8" + entry.form.substr(n + 2);
}

}  // namespace

TopologyParam rate_param(std::string name, std::int64_t value, std::string help, Source source, std::string origin) {
  return {std::move(name), TopologyParam::Kind::kRate, value, 1, kLargestSize,
          std::move(help), std::move(origin),          source};
}

TopologyParam time_param(std::string name, Nanoseconds value, std::string help, Source source, std::string origin) {
  return {std::move(name), TopologyParam::Kind::kTime, value, 0, 1'000'000'000,
          std::move(help), std::move(origin),          source};
}

TopologyParam count_param(std::string name, std::int64_t value, std::int64_t least, std::int64_t most,
                          std::string help) {
  return {std::move(name), TopologyParam::Kind::kCount, value, least, most, std::move(help), "", Source::kDefault};
}

TopologyParam ratio_param(std::string name, std::int64_t thousandths, std::string help) {
  return {std::move(name), TopologyParam::Kind::kRatio, thousandths, 1000, 64'000, std::move(help), "",
          Source::kDefault};
}

std::string preset_value_text(TopologyParam::Kind kind, std::int64_t value) {
  switch (kind) {
    case TopologyParam::Kind::kRate:
      return format_short(value, scale_of("GB/s", 4)) + " GB/s";
    case TopologyParam::Kind::kTime:
      return std::to_string(value) + " ns";
    case TopologyParam::Kind::kCount:
      return std::to_string(value);
    case TopologyParam::Kind::kRatio:
      return format_short(value, {"", 1000, 3});
  }
  return {};
}

PresetValues read_preset_values(const TopologyEntry& entry, std::string_view text, std::string_view rest,
                                const std::string& place) {
  PresetValues result;
  result.text = text;
  result.units = entry.default_units;
  KeyedForm form{.place = place,
                 .example = "write it like " + with_eight_units(entry),
                 .once = "give each parameter once",
                 .unknown = entry.name + " has no parameter \"{}\"",
                 .known = "it has: ",
                 .bare_first = !entry.units.empty()};
  for (const TopologyParam& param : entry.params) {
    result.values[param.name] = param.value;
    form.keys.push_back(param.name);
  }
  const auto take = [&](const std::string& key, const std::string& value) {
    if (key.empty()) {
      const auto units = read_whole_within(value, 1, entry.most_units);
      if (units) return static_cast<void>(result.units = *units);
      fail("B001", place,
           "\"" + value + "\" is not a number of " + entry.units + " from 1 to " + std::to_string(entry.most_units),
           form.example);
    }
    const auto param = std::find_if(entry.params.begin(), entry.params.end(),
                                    [&](const TopologyParam& candidate) { return candidate.name == key; });
    result.given.emplace(key, true);
    const std::optional<std::int64_t> number = parse_value(*param, value);
    if (!number) fail("B001", place, "\"" + value + "\" is not a value of " + key, key + " is " + wanted(*param));
    result.values[key] = *number;
  };
  if (text.size() > entry.name.size()) read_keyed_list(rest, form, take);
  if (result.units == 0 && !entry.units.empty()) {
    fail("B001", place, entry.name + " needs a number: how many " + entry.units, form.example);
  }
  return result;
}

namespace {

void check_size(const PresetValues& values, std::int64_t count, std::int64_t most, const char* what) {
  if (count <= most) return;
  throw InputError(Diagnostic{"X005", "--topology",
                              values.text + " has " + std::to_string(count) + " " + what +
                                  ", and a graph holds at most " + std::to_string(most),
                              "make it smaller"});
}

}  // namespace

void check_devices(const PresetValues& values, std::int64_t devices) {
  check_size(values, devices, kMostGraphDevices, "devices");
}

void check_links(const PresetValues& values, std::int64_t links) {
  check_size(values, links, kMostGraphLinks, "links");
}

}  // namespace debubble
