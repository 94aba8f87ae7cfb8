// What a framework itself decides about a run, as rows of a table (formats/rules/framework_rules.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace debubble {

enum class RuleKind : std::uint8_t { kRefuses, kCut, kDefault, kNotModelled };

struct FrameworkRule {
  RuleKind kind = RuleKind::kRefuses;
  // What the row is about. Of kRefuses: what is refused, in the form of rule_condition.hpp. Others say it in words.
  std::string condition{};
  std::string text{};     // what the framework does then, or what is done here in its place
  std::string source{};   // file and function of the release
  std::string example{};  // kRefuses: what makes the rows' legal run (FrameworkRules::legal) break this one
  bool of_sizes = false;  // kRefuses: of ranks, batches and layers, which forks cannot have otherwise either
  // kRefuses: of what debubble can be asked for, and no file of the framework says. The example is what
  // `debubble export --to NAME` gets beside a model.
  bool of_run = false;
};

// What a NAME in the conditions stands for.
struct RuleFact {
  std::string name;
  std::string meaning;  // "microbatches of a step"
  std::string flags{};  // from which it follows, as a person writes them: "--num-layers,--mtp-num-layers"
};

struct FrameworkRules {
  std::string name;     // "megatron"
  std::string title;    // "Megatron-LM"
  std::string release;  // "megatron-core 0.19.2"
  std::string legal;    // a run that breaks none
  std::vector<FrameworkRule> rows;
  std::vector<RuleFact> facts;
};

}  // namespace debubble
