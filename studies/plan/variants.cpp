#include "studies/plan/variants.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

struct UsualValues {
  const char* schedule;
  const char* param;
  std::vector<std::string> values;  // "": as it is without the parameter
};

const std::vector<UsualValues>& usual_values() {
  static const std::vector<UsualValues> table{{"chimera", "mode", {"", "doubling", "halving"}},
                                              {"dapple", "policy", {"", "b"}},
                                              {"zb-auto", "memory_limit", {"", "1.5p", "2p"}},
                                              {"zb-v-auto", "memory_limit", {"", "1.5p", "2p"}},
                                              {"optimal", "memory_limit", {"", "1.5p", "2p"}}};
  return table;
}

std::vector<std::string> values_for(const ScheduleEntry& entry, const std::string& param, int chunks) {
  // Its search chooses the placement by the times; a bound needs one that does not depend on them.
  if (entry.name == "optimal" && param == "placement" && chunks > 1) return {"loop", "zigzag"};
  if (entry.name == "pipeoffload" && param == "offload_chunks") {
    const std::string half = std::to_string((chunks + 1) / 2);
    return chunks > 1 ? std::vector<std::string>{half, std::to_string(chunks)} : std::vector<std::string>{half};
  }
  for (const UsualValues& usual : usual_values()) {
    if (entry.name == usual.schedule && param == usual.param) return usual.values;
  }
  return {""};
}

// Stages below this one may leave their device meanwhile, or nothing is known of when they are held.
std::int32_t first_held_stage(const PlanChoice& choice, const Schedule& schedule) {
  const ScheduleEntry* const entry = find_schedule(choice.schedule);
  if (entry == nullptr || !entry->uses_costs) return 0;
  if (entry->name == "pipeoffload") {
    const auto params = params_of(choice);
    const auto given = params.find("offload_chunks");
    const std::optional<std::int64_t> offloaded =
        given == params.end() ? std::nullopt : count_of(given->second, std::int64_t{schedule.chunks});
    if (offloaded) return static_cast<std::int32_t>(*offloaded) * schedule.devices;
  }
  return std::numeric_limits<std::int32_t>::max();
}

}  // namespace

bool is_schedule_param(const std::string& key) {
  const auto catalog = schedule_catalog();
  return std::any_of(catalog.begin(), catalog.end(),
                     [&](const ScheduleEntry& entry) { return key != entry.chunks_param && has_param(entry, key); });
}

std::vector<PlanVariant> variants_with(const ScheduleEntry& entry, int chunks,
                                       const std::map<std::string, std::vector<std::string>>& allowed) {
  std::vector<PlanVariant> variants{{entry.name, chunks}};
  for (const ParamSpec& param : entry.params) {
    if (param.name == entry.chunks_param) continue;
    const auto named = allowed.find(param.name);
    const std::vector<std::string> values =
        named == allowed.end() ? values_for(entry, param.name, chunks) : named->second;
    std::vector<PlanVariant> more;
    for (const PlanVariant& variant : variants) {
      for (auto value = values.begin(); value != values.end(); ++value) {
        if (std::find(values.begin(), value, *value) != value) continue;  // each once
        more.push_back(variant);
        if (!value->empty()) more.back().params.push_back(param.name + "=" + *value);
      }
    }
    variants = std::move(more);
  }
  return variants;
}

bool is_usual_variant(const PlanVariant& variant) {
  if (variant.schedule != "pipeoffload") return true;
  const std::string half = "offload_chunks=" + std::to_string(variant.chunks / 2);
  return (variant.chunks == 2 || variant.chunks == 4) && variant.params == std::vector<std::string>{half};
}

std::string exchange_warmup(const FrameworkJob& job, const std::string& runs_in) {
  if (!job.exchange_overlap) return "";
  return runs_in.empty() || runs_in == "Megatron-LM" ? "1" : "0";
}

std::map<std::string, std::string> params_of(const PlanChoice& choice) {
  std::map<std::string, std::string> params;
  for (const std::string& param : choice.params) {
    const std::size_t equals = std::min(param.find('='), param.size());
    params[param.substr(0, equals)] = equals < param.size() ? param.substr(equals + 1) : "";
  }
  return params;
}

OrderSummary summary_for(const PlanChoice& choice, const Schedule& schedule) {
  const ScheduleEntry* const entry = find_schedule(choice.schedule);
  OrderSummary summary =
      summarise(schedule, entry != nullptr && entry->splits_backward, first_held_stage(choice, schedule));
  summary.planned = entry != nullptr && entry->uses_costs;
  return summary;
}

}  // namespace debubble
