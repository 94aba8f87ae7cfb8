// Conditions of rules, as text that people read and that is evaluated:
//
//     --recompute-granularity == full and not --recompute-method
//     CHUNKS > 1 and 0 < MICROBATCHES % GROUP and MICROBATCHES % GROUP < --pipeline-model-parallel-size
//     --optimizer outside adam,sgd
//
// --name is an argument, a NAME in capitals a value that follows from them, another word stands for itself. `or`, `and`
// and `not` bind in that order, then == != < <= > >=, `in` (one of the argument's words is in the list), `outside` (one
// is not in it) and `given` (it was typed), then + -, then * / (of whole numbers) %. What has no value makes a
// comparison false; alone, a value is true unless it is none or 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/rules/rule_facts.hpp"

namespace debubble {

class RuleCondition {
 public:
  // Keeps references into the text. Throws std::logic_error where it is no condition.
  explicit RuleCondition(std::string_view text);
  [[nodiscard]] bool holds(const RuleFacts& facts) const;
  // Each name of a fact once, in the text's order, with the dashes of an argument's.
  [[nodiscard]] const std::vector<std::string_view>& names() const { return names_; }

 private:
  enum class Sign : std::uint8_t {
    kWord,
    kFact,
    kGiven,
    kOr,
    kAnd,
    kNot,
    kEqual,
    kUnequal,
    kAtMost,
    kAtLeast,
    kBelow,
    kAbove,
    kIn,
    kOutside,
    kPlus,  // from here on numbers
    kMinus,
    kTimes,
    kDivided,
    kRest
  };
  struct Node {
    Sign sign = Sign::kWord;
    int left = -1;
    int right = -1;
    RuleName name{};    // kFact, kGiven
    RuleValue value{};  // kWord; of kIn and kOutside the list
  };
  struct Found;
  class Reader;

  [[nodiscard]] Found of(int node, const RuleFacts& facts) const;
  [[nodiscard]] bool compared(const Node& node, const RuleFacts& facts) const;

  std::vector<Node> nodes_;  // each after its operands
  std::vector<std::string_view> names_;
};

// Throws std::logic_error where the text is no condition.
[[nodiscard]] bool holds(std::string_view condition, const RuleFacts& facts);

}  // namespace debubble
