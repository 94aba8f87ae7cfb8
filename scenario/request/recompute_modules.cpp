#include "scenario/request/recompute_modules.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "scenario/request/checks.hpp"
#include "sim/core/error.hpp"
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
             "layernorm, mla_up_proj, shared_experts");
  }
  const std::string missing = lacking(*found, shape);
  if (!missing.empty()) fail("C004", kModulesFlag, "the model has no " + missing, "leave " + name + " out");
  if (modules.*found->module) fail("C007", kModulesFlag, "\"" + name + "\" is given twice", "give each module once");
  modules.*found->module = true;
}

}  // namespace

RecomputeModules parse_recompute_modules(const std::string& text, const TransformerShape& shape) {
  RecomputeModules modules;
  modules.core_attn = false;
  Checks checks;
  for (const std::string& name : split(text)) {
    checks.run([&] { take_module(name, shape, modules); });
  }
  checks.finish();
  return modules;
}

std::string recomputation_words(const RecomputeModules& modules) {
  std::string text;
  for (const NamedModule& one : kModules) {
    if (modules.*one.module) text += (text.empty() ? "of " : ", ") + std::string(one.name);
  }
  return text == "of core_attn" ? "of attention's core" : text;
}

}  // namespace debubble
