#include "sim/topologies/preset_values.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/suggest.hpp"
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

class PresetReader {
 public:
  PresetReader(const TopologyEntry& entry, std::string_view text, const std::string& place)
      : entry_(entry), place_(place) {
    values_.text = text;
    values_.units = entry.default_units;
    for (const TopologyParam& param : entry.params) values_.values[param.name] = param.value;
  }

  PresetValues run(std::string_view rest, bool colon) {
    bool first = true;
    while (colon) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      item(rest.substr(0, comma), first);
      first = false;
      colon = comma < rest.size();
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    if (values_.units == 0 && !entry_.units.empty() && problems_.empty()) {
      complain("B001", entry_.name + " needs a number: how many " + entry_.units);
    }
    if (!problems_.empty()) throw InputError(std::move(problems_));
    return std::move(values_);
  }

 private:
  void complain(std::string code, std::string message, std::string help = "") {
    if (help.empty()) help = "write it like " + example();
    problems_.push_back({std::move(code), place_, std::move(message), std::move(help)});
  }

  [[nodiscard]] std::string example() const {
    const std::string::size_type n = entry_.form.find(":N");
    if (n == std::string::npos) return entry_.form;
    return entry_.form.substr(0, n) + ":8" + entry_.form.substr(n + 2);
  }

  void item(std::string_view text, bool first) {
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) return key_value(text.substr(0, equals), text.substr(equals + 1));
    if (!first || entry_.units.empty()) {
      complain("C006", "\"" + std::string(text) + "\" is not KEY=VALUE");
      return;
    }
    const auto number = read_whole_within(text, 1, entry_.most_units);
    if (!number) {
      complain("B001", "\"" + std::string(text) + "\" is not a number of " + entry_.units + " from 1 to " +
                           std::to_string(entry_.most_units));
      return;
    }
    values_.units = *number;
  }

  void key_value(std::string_view key, std::string_view value) {
    const auto param = std::find_if(entry_.params.begin(), entry_.params.end(),
                                    [&](const TopologyParam& candidate) { return candidate.name == key; });
    if (param == entry_.params.end()) return unknown(key);
    if (!values_.given.emplace(param->name, true).second) {
      complain("C007", "\"" + param->name + "\" is given twice", "give each parameter once");
      return;
    }
    const std::optional<std::int64_t> number = parse_value(*param, value);
    if (!number) {
      complain("B001", "\"" + std::string(value) + "\" is not a value of " + param->name,
               param->name + " is " + wanted(*param));
      return;
    }
    values_.values[param->name] = *number;
  }

  void unknown(std::string_view key) {
    std::vector<std::string> names;
    std::string all;
    for (const TopologyParam& param : entry_.params) {
      names.push_back(param.name);
      all += (all.empty() ? "" : ", ") + param.name;
    }
    const std::string guess = closest_name(key, names);
    complain("C017", entry_.name + " has no parameter \"" + std::string(key) + "\"",
             guess.empty() ? "it has: " + all : "did you mean " + guess + "?");
  }

  const TopologyEntry& entry_;
  const std::string& place_;
  PresetValues values_;
  std::vector<Diagnostic> problems_;
};

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
  return PresetReader(entry, text, place).run(rest, text.size() > entry.name.size());
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
