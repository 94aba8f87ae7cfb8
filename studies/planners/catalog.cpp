#include "studies/planners/catalog.hpp"

#include <array>
#include <utility>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/keyed_list.hpp"
#include "sim/core/suggest.hpp"
#include "sim/core/words.hpp"
#include "studies/planners/accept.hpp"
#include "studies/planners/alpa.hpp"
#include "studies/planners/autoddl.hpp"
#include "studies/planners/bapipe.hpp"
#include "studies/planners/dapple.hpp"
#include "studies/planners/dawnpiper.hpp"
#include "studies/planners/optpipe.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/pipedream.hpp"
#include "studies/planners/pipedream_2bw.hpp"
#include "studies/planners/spp.hpp"

namespace debubble {

namespace {

const ParamSpec* find_planner_param(const PlannerEntry& entry, const std::string& name) {
  for (const ParamSpec& param : entry.params) {
    if (param.name == name) return &param;
  }
  return nullptr;
}

void read_planner_params(const PlannerEntry& entry, std::string_view text, PlannerRequest& request) {
  const std::string first = entry.params.empty() ? "KEY" : entry.params.front().name;
  const KeyedForm form{.place = "--planner",
                       .example = "write it like " + entry.name + ":" + first + "=...",
                       .unkeyed = "\"{}\" does not have the form KEY=VALUE",
                       .once = "give it once",
                       .values_needed = true};
  read_keyed_list(text, form, [&](const std::string& key, const std::string& value) {
    request.params[key] = value;
    if (find_planner_param(entry, key) != nullptr) return;
    std::string known;
    for (const ParamSpec& param : entry.params) known += (known.empty() ? "" : ", ") + param.name;
    fail("C017", "--planner", entry.name + " has no parameter \"" + key + "\"",
         known.empty() ? "it has none" : "it has: " + known);
  });
}

}  // namespace

const char* to_string(PlannerCertainty certainty) {
  return at(std::array{"verified", "derived", "recalled"}, certainty);
}

std::span<const PlannerEntry> planner_catalog() {
  static const std::array catalog{debubble_planner(), even_planner(),    megatron_planner(),  deepspeed_planner(),
                                  alpa_planner(),     dapple_planner(),  pipedream_planner(), pipedream_2bw_planner(),
                                  spp_planner(),      bapipe_planner(),  dawnpiper_planner(), accept_planner(),
                                  pipeedge_planner(), optpipe_planner(), autoddl_planner()};
  return catalog;
}

const PlannerEntry* find_planner(std::string_view name) {
  for (const PlannerEntry& entry : planner_catalog()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

PlannerSpec parse_planner(std::string_view text, bool as_published) {
  const std::size_t colon = text.find(':');
  const std::string name(text.substr(0, colon));
  PlannerSpec spec{find_planner(name), {as_published, {}}};
  if (spec.entry == nullptr) {
    std::vector<std::string> names;
    for (const PlannerEntry& entry : planner_catalog()) names.push_back(entry.name);
    const std::string guess = closest_name(name, names);
    fail("C003", "--planner", "there is no planner \"" + name + "\"",
         guess.empty() ? "`debubble list planners` shows all of them" : "did you mean " + guess + "?");
  }
  if (colon != std::string_view::npos) read_planner_params(*spec.entry, text.substr(colon + 1), spec.request);
  return spec;
}

PlannerDecision decide(const PlannerSpec& spec, const PlannerJob& job) {
  check_planner_job(job);
  PlannerDecision decision = spec.entry->decide(job, spec.request);
  decision.planner = spec.entry->name;
  decision.as_published = spec.request.as_published;
  return decision;
}

PlannerDecision decide(std::string_view planner, const PlannerJob& job, bool as_published) {
  return decide(parse_planner(planner, as_published), job);
}

std::vector<int> decided_partition(const PlannerDecision& decision, const PlannerJob& job) {
  std::vector<int> sizes;
  int next = 0;
  for (const PlannerStage& stage : decision.stages) {
    if (stage.begin != next || stage.end <= stage.begin) break;
    sizes.push_back(stage.end - stage.begin);
    next = stage.end;
  }
  if (sizes.size() != decision.stages.size() || next != job.layer_count() || sizes.empty()) {
    not_for_planner(decision.planner, "its decision is not a partition of the " + counted(job.layer_count(), "layer"),
                    "give it a chain of layers; " + decision.planner + " may decide other things than stages");
  }
  return sizes;
}

}  // namespace debubble
