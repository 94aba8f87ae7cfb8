#include "scenario/request/recompute_modules.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "scenario/request/checks.hpp"
#include "scenario/request/stage_list.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/split.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {
namespace {

constexpr const char* kModulesFlag = "--recompute-modules";

struct NamedModule {
  std::string_view name;
  bool RecomputeModules::*module;
};
constexpr std::array<NamedModule, 7> kModules{{{"core_attn", &RecomputeModules::core_attn},
                                               {"mlp", &RecomputeModules::mlp},
                                               {"moe", &RecomputeModules::moe},
                                               {"moe_act", &RecomputeModules::moe_act},
                                               {"layernorm", &RecomputeModules::layernorm},
                                               {"mla_up_proj", &RecomputeModules::mla_up_proj},
                                               {"shared_experts", &RecomputeModules::shared_experts}}};

// Why the model has no such module; empty: it has.
std::string lacking(const NamedModule& named, const TransformerShape& shape) {
  if (named.module == &RecomputeModules::mla_up_proj && shape.kv_rank == 0) return "latent attention";
  const bool experts = named.module == &RecomputeModules::moe || named.module == &RecomputeModules::moe_act;
  if (experts && shape.experts == 0) return "experts";
  if (named.module == &RecomputeModules::shared_experts && shape.shared_feed_forward == 0) return "shared experts";
  return "";
}

void take_module(const std::string& name, const TransformerShape& shape, RecomputeModules& modules) {
  const auto* const found =
      std::find_if(kModules.begin(), kModules.end(), [&](const NamedModule& one) { return one.name == name; });
  if (found == kModules.end()) {
    std::vector<std::string> names;
    for (const NamedModule& one : kModules) names.emplace_back(one.name);
    const std::string meant = closest_name(name, names);
    fail("C003", kModulesFlag, "no module is named \"" + name + "\"",
         (meant.empty() ? "" : "did you mean " + meant + "? ") + std::string("known: core_attn, mlp, moe, moe_act, ") +
             "layernorm, mla_up_proj, shared_experts; op or budget=0.5 alone");
  }
  const std::string missing = lacking(*found, shape);
  if (!missing.empty()) fail("C004", kModulesFlag, "the model has no " + missing, "leave " + name + " out");
  if (modules.*found->module) fail("C007", kModulesFlag, "\"" + name + "\" is given twice", "give each module once");
  modules.*found->module = true;
}

}  // namespace

namespace {

// "op" or "budget=0.5": of whole blocks, and so of no module besides.
std::optional<RecomputeModules> parse_kept_outputs(const std::string& text) {
  constexpr std::string_view kBudget = "budget=";
  RecomputeModules modules;
  modules.core_attn = false;
  if (text == "op") {
    modules.outputs = RecomputeModules::Outputs::kOp;
    return modules;
  }
  if (!text.starts_with(kBudget)) return std::nullopt;
  const auto share = number_of(text.substr(kBudget.size()));
  if (!share || !(*share >= 0 && *share <= 1)) {
    fail("C012", kModulesFlag, "\"" + text + "\" is not a share of the bytes from 0 to 1", "write it like budget=0.5");
  }
  modules.outputs = RecomputeModules::Outputs::kBudget;
  modules.budget = *share;
  return modules;
}

}  // namespace

RecomputeModules parse_recompute_modules(const std::string& text, const TransformerShape& shape) {
  if (const auto whole = parse_kept_outputs(text)) return *whole;
  RecomputeModules modules;
  modules.core_attn = false;
  Checks checks;
  for (const std::string& name : split(text)) {
    checks.run([&] { take_module(name, shape, modules); });
  }
  checks.finish();
  return modules;
}

RecomputeRule parse_recompute_rule(const std::string& text, std::int64_t blocks) {
  constexpr const char* kPlace = "--recompute-blocks";
  constexpr std::int64_t kMostBlocks = 1 << 16;
  const std::size_t colon = text.find(':');
  RecomputeRule rule;
  if (colon == std::string::npos) {
    rule.how = RecomputeRule::How::kListed;
    rule.listed = parse_stage_list(text, kPlace, "block");
    if (rule.listed.back() < blocks) return rule;
    fail("C012", kPlace, "there is no block " + std::to_string(rule.listed.back()) + " of " + std::to_string(blocks),
         "blocks are numbered from 0 in the model's order");
  }
  const std::array<std::pair<const char*, RecomputeRule::How>, 3> ways{{{"first", RecomputeRule::How::kFirst},
                                                                        {"every", RecomputeRule::How::kEvery},
                                                                        {"chunks", RecomputeRule::How::kChunks}}};
  for (const auto& [word, how] : ways) {
    if (text.substr(0, colon) == word) rule.how = how;
  }
  const auto number = count_of(text.substr(colon + 1), kMostBlocks);
  const std::int64_t least = rule.how == RecomputeRule::How::kFirst ? 0 : 1;
  if (!rule.some() || !number || *number < least) {
    fail("C012", kPlace, "\"" + text + "\" names no blocks",
         "write first:2 (of each stage), every:2 (of them one), chunks:4 (one input for four), or 0-3,7");
  }
  rule.number = static_cast<int>(*number);
  return rule;
}

std::string recompute_module_names(const RecomputeModules& modules) {
  if (modules.outputs == RecomputeModules::Outputs::kOp) return "op";
  if (modules.outputs == RecomputeModules::Outputs::kBudget) return "budget";
  std::string names;
  for (const NamedModule& one : kModules) {
    if (modules.*one.module) names += (names.empty() ? "" : ",") + std::string(one.name);
  }
  return names;
}

std::string recomputation_words(const RecomputeModules& modules) {
  std::string text;
  for (const NamedModule& one : kModules) {
    if (modules.*one.module) text += (text.empty() ? "of " : ", ") + std::string(one.name);
  }
  if (modules.outputs == RecomputeModules::Outputs::kOp)
    return "of blocks, but for attention, exchanges and every other product";
  if (modules.outputs == RecomputeModules::Outputs::kBudget)
    return "of blocks, but for " + format_percent(modules.budget) + " of what products and attention make";
  return text == "of core_attn" ? "of attention's core" : text;
}

}  // namespace debubble
