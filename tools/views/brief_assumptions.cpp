#include "tools/views/brief_assumptions.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "sim/topologies/catalog.hpp"

namespace debubble {

namespace {

const TopologyEntry* topology_of(const std::vector<Assumption>& all) {
  const auto named = std::find_if(all.begin(), all.end(), [](const Assumption& one) { return one.what == "topology"; });
  return named == all.end() ? nullptr : find_topology(named->value.substr(0, named->value.find(':')));
}

const TopologyParam* param_of(const TopologyEntry* topology, const Assumption& one) {
  if (topology == nullptr) return nullptr;
  const auto found = std::find_if(topology->params.begin(), topology->params.end(), [&](const TopologyParam& param) {
    return one.what == param.name + ": " + param.help;
  });
  return found == topology->params.end() ? nullptr : &*found;
}

// "370.8 GB/s (18 links of 20.6 GB/s in NCCL's tables)" -> "370.8 GB/s"
std::string value_alone(const TopologyParam& param, const std::string& value) {
  const std::string origin = " (" + param.origin + ")";
  return value.ends_with(origin) ? value.substr(0, value.size() - origin.size()) : value;
}

bool says_nothing_new(const TopologyParam* param, const Assumption& one) {
  if (param != nullptr && one.source == Source::kGiven) return true;  // it stands in the topology's own text
  if (one.source != Source::kDefault) return false;
  if (param == nullptr) return one.what == "transfer latency in addition to the links";  // by default 0
  return (param->kind == TopologyParam::Kind::kCount && param->value == 0) ||
         (param->kind == TopologyParam::Kind::kRatio && param->value == 1000);
}

// "llama3-70b, A. Grattafiori et al., The Llama 3 Herd of Models, 2024, table 3" -> "llama3-70b"
std::string without_citation(const Assumption& one) {
  const bool listed = one.what == "hardware" || (one.what == "model" && one.source == Source::kPublished);
  return listed ? one.value.substr(0, one.value.find(',')) : one.value;
}

}  // namespace

std::vector<Assumption> brief_assumptions(const std::vector<Assumption>& all) {
  const TopologyEntry* topology = topology_of(all);
  std::vector<Assumption> brief;
  for (const Assumption& one : all) {
    const TopologyParam* param = param_of(topology, one);
    if (says_nothing_new(param, one)) continue;
    if (param == nullptr) {
      brief.push_back({one.what, without_citation(one), one.source});
      continue;
    }
    const std::string text = param->name + " " + value_alone(*param, one.value);
    const auto together = std::find_if(brief.begin(), brief.end(), [&](const Assumption& other) {
      return other.what == topology->name && other.source == one.source;
    });
    if (together == brief.end()) {
      brief.push_back({topology->name, text, one.source});
    } else {
      together->value += ", " + text;
    }
  }
  return brief;
}

}  // namespace debubble
