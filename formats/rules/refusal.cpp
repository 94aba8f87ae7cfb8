#include "formats/rules/refusal.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "formats/rules/rule_condition.hpp"
#include "formats/text/printable.hpp"
#include "sim/core/split.hpp"

namespace debubble {
namespace {

std::string fact_value_text(const RuleValue& value) {
  std::string text;
  for (const std::string& word : value.words) text += " " + word;
  if (value.words.empty() && value.number) text += " " + std::to_string(static_cast<std::int64_t>(*value.number));
  return text;
}

class FactsTold {
 public:
  FactsTold(const FrameworkRules& rules, const RuleFacts& facts) : rules_(rules), facts_(facts) {}

  void tell(std::string_view name) {
    const RuleValue* value = facts_.find(name.starts_with("--") ? name.substr(2) : name);
    if (value == nullptr) return;
    if (name.starts_with("--")) return add(std::string(name) + fact_value_text(*value));
    const auto row =
        std::find_if(rules_.facts.begin(), rules_.facts.end(), [&](const RuleFact& fact) { return fact.name == name; });
    if (row == rules_.facts.end()) return add(std::string(name) + fact_value_text(*value));
    bool shown = false;
    int given = 0;
    for (const std::string& flag : split(row->flags)) {
      const std::string_view plain = std::string_view(flag).substr(flag.starts_with("--") ? 2 : 0);
      if (flag.empty() || !facts_.given(plain)) continue;
      const RuleValue* one = facts_.find(plain);
      if (one == nullptr) continue;  // given, nobody knows what
      ++given;
      shown = !value->number || one->number == value->number;
      add(flag + fact_value_text(*one));
    }
    if (given != 1 || !shown) add(std::string(row->meaning) + fact_value_text(*value));
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void add(const std::string& part) {
    if (once_.insert(part).second) text_ += (text_.empty() ? "" : ", ") + part;
  }

  const FrameworkRules& rules_;
  const RuleFacts& facts_;
  std::set<std::string> once_;
  std::string text_;
};

}  // namespace

std::string facts_in(const FrameworkRules& rules, std::string_view condition, const RuleFacts& facts) {
  FactsTold told(rules, facts);
  const RuleCondition read(condition);
  for (const std::string_view name : read.names()) told.tell(name);
  return told.text();
}

Diagnostic refusal(const FrameworkRules& rules, const FrameworkRule& rule, const RuleFacts& facts, const char* code,
                   std::string place) {
  return {code, std::move(place),
          std::string(rules.title) + " refuses this: " + printable(facts_in(rules, rule.condition, facts)),
          std::string(rule.text) + " (" + std::string(rules.release) + ", " + std::string(rule.source) + ")"};
}

}  // namespace debubble
