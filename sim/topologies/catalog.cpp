#include "sim/topologies/catalog.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/suggest.hpp"
#include "sim/topologies/presets.hpp"

namespace debubble {

namespace {

std::vector<TopologyEntry> all_topologies() {
  std::vector<TopologyEntry> all;
  for (std::vector<TopologyEntry> family : {nvswitch_topologies(), pcie_topologies(), basic_topologies(),
                                            switched_topologies(), hammingmesh_topologies()}) {
    all.insert(all.end(), std::make_move_iterator(family.begin()), std::make_move_iterator(family.end()));
  }
  return all;
}

[[noreturn]] void refuse_name(const std::string& name, const std::string& place) {
  std::vector<std::string> names{"ideal"};
  for (const TopologyEntry& entry : topology_catalog()) names.push_back(entry.name);
  std::string all;
  for (const std::string& known : names) all += (all.empty() ? "" : ", ") + known;
  const std::string guess = closest_name(name, names);
  throw InputError(Diagnostic{"C003", place, "\"" + name + "\" is not one of: " + all,
                              guess.empty() ? "write " + place + " ideal" : "did you mean " + guess + "?"});
}

bool is_neutral(const TopologyParam& param, std::int64_t value) {
  constexpr std::int64_t kWhole = 1000;  // ratios are in thousandths
  return (param.kind == TopologyParam::Kind::kCount && value == 0) ||
         (param.kind == TopologyParam::Kind::kRatio && value == kWhole);
}

Assumption assumption_of(const TopologyEntry& entry, const TopologyParam& param, const PresetValues& values) {
  const bool given = values.given.find(param.name) != values.given.end();
  return {.key = param.name,
          .amount = preset_value_text(param.kind, values[param.name]),
          .source = given ? Source::kGiven : param.source,
          .subject = entry.name,
          .meaning = param.help,
          .citation = given ? "" : param.origin,
          .changes_result = !is_neutral(param, values[param.name])};
}

}  // namespace

const std::vector<TopologyEntry>& topology_catalog() {
  static const std::vector<TopologyEntry> catalog = all_topologies();
  return catalog;
}

const TopologyEntry* find_topology(std::string_view name) {
  const std::vector<TopologyEntry>& catalog = topology_catalog();
  const auto found =
      std::find_if(catalog.begin(), catalog.end(), [&](const TopologyEntry& entry) { return entry.name == name; });
  return found == catalog.end() ? nullptr : &*found;
}

DescribedTopology describe_topology(std::string_view text, const std::string& place) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const TopologyEntry* entry = find_topology(text.substr(0, colon));
  if (entry == nullptr) refuse_name(std::string(text.substr(0, colon)), place);
  const std::string_view rest = colon < text.size() ? text.substr(colon + 1) : std::string_view{};
  const PresetValues values = read_preset_values(*entry, text, rest, place);
  DescribedTopology described{entry->build(values), {}};
  for (const TopologyParam& param : entry->params)
    described.assumptions.push_back(assumption_of(*entry, param, values));
  return described;
}

LinkGraph build_topology(std::string_view text) { return describe_topology(text).graph; }

}  // namespace debubble
