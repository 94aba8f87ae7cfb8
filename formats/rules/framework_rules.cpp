#include "formats/rules/framework_rules.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "formats/rules/rule_texts.hpp"
#include "sim/core/split.hpp"

namespace debubble {
namespace {

constexpr std::string_view kGoesOn = "    ";
constexpr std::array<std::pair<std::string_view, std::string FrameworkRules::*>, 4> kFrameworkLines{
    {{"name", &FrameworkRules::name},
     {"title", &FrameworkRules::title},
     {"release", &FrameworkRules::release},
     {"legal", &FrameworkRules::legal}}};
constexpr std::array<std::pair<std::string_view, std::string FrameworkRule::*>, 3> kRuleLines{
    {{"  says", &FrameworkRule::text}, {"  in", &FrameworkRule::source}, {"  try", &FrameworkRule::example}}};

class RuleReader {
 public:
  void read(std::string_view text) {
    const std::vector<std::string> lines = split(text, '\n');
    for (std::size_t k = 0; k < lines.size();) {
      std::string line = lines[k++];
      const std::size_t number = k;
      while (k < lines.size() && lines[k].starts_with(kGoesOn)) line += lines[k++].substr(kGoesOn.size() - 1);
      if (line.empty() || line.starts_with('#') || take(line)) continue;
      throw std::logic_error("no line of a framework's rules: " + std::to_string(number) + ": " + line);
    }
  }

  FrameworkRules result() { return std::move(rules_); }

 private:
  bool take(const std::string& line) {
    const std::size_t end = line.find(' ', line.find_first_not_of(' '));
    if (end >= line.size() - 1) return false;
    const std::string_view word = std::string_view(line).substr(0, end);
    const std::string rest = line.substr(end + 1);
    if (word == "fact") return add_fact(rest);
    if (word == "include") return include(rest);
    if (word == "  of") return last_fact_ && set(rules_.facts.back().flags, with_commas(rest));
    for (const auto& [name, member] : kFrameworkLines) {
      if (word == name) return set(rules_.*member, rest);
    }
    for (const auto& [name, member] : kRuleLines) {
      if (word == name) return last_rule_ && set(rules_.rows.back().*member, rest);
    }
    return add_rule(word, rest);
  }

  static bool set(std::string& member, std::string text) {
    if (!member.empty()) return false;
    member = std::move(text);
    return true;
  }

  static std::string with_commas(std::string flags) {
    std::replace(flags.begin(), flags.end(), ' ', ',');
    return flags;
  }

  bool add_fact(const std::string& text) {
    const std::size_t end = std::min(text.find(' '), text.size() - 1);
    rules_.facts.push_back({text.substr(0, end), text.substr(end + 1), ""});
    last_fact_ = true;
    last_rule_ = false;
    return !rules_.facts.back().meaning.empty();
  }

  bool add_rule(std::string_view word, const std::string& condition) {
    struct Kind {
      std::string_view word;
      RuleKind kind;
      bool of_sizes = false;
      bool of_run = false;
    };
    static constexpr std::array<Kind, 6> kKinds{{{"refuse", RuleKind::kRefuses},
                                                 {"refuse-sizes", RuleKind::kRefuses, true, false},
                                                 {"refuse-run", RuleKind::kRefuses, false, true},
                                                 {"cut", RuleKind::kCut},
                                                 {"default", RuleKind::kDefault},
                                                 {"not-modelled", RuleKind::kNotModelled}}};
    const auto* const found =
        std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& one) { return one.word == word; });
    if (found == kKinds.end()) return false;
    rules_.rows.push_back({found->kind, condition, "", "", "", found->of_sizes, found->of_run});
    last_fact_ = false;
    last_rule_ = true;
    return true;
  }

  bool include(std::string_view name) {
    if (name != "run" && name != "pytorch_classes") return false;
    read(name == "run" ? run_rules_text() : pytorch_classes_rules_text());
    return true;
  }

  FrameworkRules rules_;
  bool last_fact_ = false;  // the last row is one, and may have more lines
  bool last_rule_ = false;
};

}  // namespace

const std::vector<FrameworkRules>& framework_rules() {
  static const std::vector<FrameworkRules> all{
      read_framework_rules(megatron_rules_text()),  read_framework_rules(torchtitan_rules_text()),
      read_framework_rules(pytorch_rules_text()),   read_framework_rules(nanotron_rules_text()),
      read_framework_rules(deepspeed_rules_text()), read_framework_rules(primus_rules_text()),
      read_framework_rules(paddle_rules_text()),    read_framework_rules(mindspeed_rules_text()),
      read_framework_rules(mindspore_rules_text()), read_framework_rules(maxtext_rules_text()),
      read_framework_rules(colossalai_rules_text())};
  return all;
}

const FrameworkRules* rules_of_framework(std::string_view name) {
  const auto& all = framework_rules();
  const auto found = std::find_if(all.begin(), all.end(), [&](const FrameworkRules& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const FrameworkRules* rules_titled(std::string_view title) {
  const auto& all = framework_rules();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const FrameworkRules& one) { return one.title == title; });
  return found == all.end() ? nullptr : &*found;
}

FrameworkRules read_framework_rules(std::string_view text) {
  RuleReader reader;
  reader.read(text);
  return reader.result();
}

}  // namespace debubble
