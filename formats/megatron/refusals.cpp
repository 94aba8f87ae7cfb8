#include "formats/megatron/refusals.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/megatron/argument_table.hpp"
#include "formats/megatron/rule_facts.hpp"
#include "formats/rules/framework_rules.hpp"
#include "formats/rules/refusal.hpp"
#include "formats/rules/rule_condition.hpp"
#include "formats/text/printable.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

constexpr const char* kConnections = "CUDA_DEVICE_MAX_CONNECTIONS";

bool is_another_program(const MegatronArguments& arguments) {
  constexpr std::array<std::string_view, 6> kOthers{"deepspeed",         "zero-stage",
                                                    "deepspeed-config",  "checkpoint-activations",
                                                    "use-legacy-models", "no-pipeline-parallel"};
  return arguments.has_older_names() || std::any_of(kOthers.begin(), kOthers.end(), [&](std::string_view name) {
           return arguments.values().contains(std::string(name));
         });
}

// What Megatron-LM's parser refuses: frameworks around it, which set arguments of their own, have names like these.
bool is_a_fork(const MegatronArguments& arguments) {
  const auto& values = arguments.values();
  return std::any_of(values.begin(), values.end(), [](const auto& one) {
    return one.first == "hf-checkpoint" || one.first == "actor-num-nodes" || !megatron_argument(one.first);
  });
}

}  // namespace

void refuse_as_megatron(const MegatronArguments& arguments, const MegatronLaunch& launch, const std::string& name) {
  if (is_another_program(arguments)) return;
  RuleFacts facts = megatron_facts(arguments, launch.ranks);
  if (const auto found = launch.environment.find(kConnections); found != launch.environment.end()) {
    facts.set(kConnections, RuleFacts::Words{found->second});
  }
  const FrameworkRules& rules = *rules_of_framework("megatron");
  const bool fork = is_a_fork(arguments);
  std::vector<Diagnostic> problems;
  for (const FrameworkRule& rule : rules.rows) {
    if (rule.example.empty() || rule.of_run || (fork && !rule.of_sizes) || !holds(rule.condition, facts)) continue;
    problems.push_back(refusal(rules, rule, facts, "P035", printable(launch_place(launch, name))));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

}  // namespace debubble
