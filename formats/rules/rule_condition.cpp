#include "formats/rules/rule_condition.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  const auto of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    const bool dashed = text.substr(at, 2) == "--";
    if (dashed || of_word(text[at])) {
      // A name has dashes inside, a list commas; both signs of a product stand between blanks.
      if (dashed) end = at + 2;
      while (end < text.size() && (of_word(text[end]) || text[end] == '-' || text[end] == ',' || text[end] == '+'))
        ++end;
    } else if (text.size() > end && text[end] == '=') {
      ++end;
    }
    tokens.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

bool is_fact(const std::string& token) {
  if (token.starts_with("--")) return true;
  return std::isupper(static_cast<unsigned char>(token.front())) != 0 && token.size() > 1 &&
         std::none_of(token.begin(), token.end(), [](char c) { return std::islower(static_cast<unsigned char>(c)); });
}

std::string fact_name(const std::string& token) { return token.starts_with("--") ? token.substr(2) : token; }

struct RuleValue {
  std::optional<double> number;
  std::optional<std::vector<std::string>> words;  // of a fact or a word

  [[nodiscard]] bool truth() const { return number ? *number != 0 : words.has_value(); }
};

RuleValue rule_value_of(std::vector<std::string> words) {
  RuleValue value;
  if (words.size() == 1) value.number = number_of(words.front());
  value.words = std::move(words);
  return value;
}

RuleValue rule_value_of(bool truth) { return {truth ? 1.0 : 0.0, {}}; }

class ConditionReader {
 public:
  ConditionReader(std::string_view text, const RuleFacts& facts)
      : text_(text), tokens_(tokens_of(text)), facts_(facts) {}

  bool run() {
    const bool result = any().truth();
    if (at_ != tokens_.size()) wrong();
    return result;
  }

 private:
  [[noreturn]] void wrong() const { throw std::logic_error("no condition: " + std::string(text_)); }

  bool take(std::string_view token) {
    if (at_ == tokens_.size() || tokens_[at_] != token) return false;
    ++at_;
    return true;
  }

  std::string next() {
    if (at_ == tokens_.size()) wrong();
    return tokens_[at_++];
  }

  RuleValue any() {
    RuleValue value = all();
    while (take("or")) {
      const bool right = all().truth();
      value = rule_value_of(value.truth() || right);
    }
    return value;
  }

  RuleValue all() {
    RuleValue value = negation();
    while (take("and")) {
      const bool right = negation().truth();
      value = rule_value_of(value.truth() && right);
    }
    return value;
  }

  RuleValue negation() { return take("not") ? rule_value_of(!negation().truth()) : comparison(); }

  RuleValue comparison() {
    if (take("given")) return rule_value_of(facts_.given(fact_name(next())));
    const RuleValue left = sum();
    for (const char* sign : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (take(sign)) return rule_value_of(compare(sign, left, sum()));
    }
    if (take("in")) return rule_value_of(in_list(left, true));
    if (take("outside")) return rule_value_of(in_list(left, false));
    return left;
  }

  static bool compare(std::string_view sign, const RuleValue& left, const RuleValue& right) {
    if (left.number && right.number) {
      const double a = *left.number;
      const double b = *right.number;
      if (sign == "==") return a == b;
      if (sign == "!=") return a != b;
      if (sign == "<=") return a <= b;
      if (sign == ">=") return a >= b;
      return sign == "<" ? a < b : a > b;
    }
    const bool both = left.words && right.words && !left.words->empty() && !right.words->empty();
    if (!both || (sign != "==" && sign != "!=")) return false;
    return (left.words->front() == right.words->front()) == (sign == "==");
  }

  bool in_list(const RuleValue& value, bool wanted) {
    const std::string list = "," + next() + ",";
    if (!value.words) return false;
    return std::any_of(value.words->begin(), value.words->end(), [&](const std::string& word) {
      return (list.find("," + word + ",") != std::string::npos) == wanted;
    });
  }

  RuleValue sum() {
    RuleValue value = product();
    for (;;) {
      const bool plus = take("+");
      if (!plus && !take("-")) return value;
      const RuleValue right = product();
      if (!value.number || !right.number) {
        value = {};
      } else {
        value = {plus ? *value.number + *right.number : *value.number - *right.number, {}};
      }
    }
  }

  RuleValue product() {
    RuleValue value = item();
    for (;;) {
      const std::string sign = at_ < tokens_.size() ? tokens_[at_] : "";
      if (sign != "*" && sign != "/" && sign != "%") return value;
      ++at_;
      const RuleValue right = item();
      if (!value.number || !right.number || (sign != "*" && *right.number == 0)) {
        value = {};
        continue;
      }
      const auto a = static_cast<std::int64_t>(*value.number);
      const auto b = static_cast<std::int64_t>(*right.number);
      value = sign == "*" ? RuleValue{*value.number * *right.number, {}}
                          : RuleValue{static_cast<double>(sign == "/" ? a / b : a % b), {}};
    }
  }

  RuleValue item() {
    const std::string token = next();
    if (token == "(") {
      RuleValue value = any();
      if (!take(")")) wrong();
      return value;
    }
    if (!is_fact(token)) {
      if (std::isalnum(static_cast<unsigned char>(token.front())) == 0) wrong();
      return rule_value_of({token});
    }
    const RuleFacts::Words* words = facts_.find(fact_name(token));
    return words == nullptr ? RuleValue{} : rule_value_of(*words);
  }

  std::string_view text_;
  std::vector<std::string> tokens_;
  const RuleFacts& facts_;
  std::size_t at_ = 0;
};

}  // namespace

bool holds(std::string_view condition, const RuleFacts& facts) { return ConditionReader(condition, facts).run(); }

std::string values_in(std::string_view condition, const RuleFacts& facts) {
  std::string text;
  std::set<std::string> seen;
  for (const std::string& token : tokens_of(condition)) {
    const RuleFacts::Words* words =
        is_fact(token) && seen.insert(token).second ? facts.find(fact_name(token)) : nullptr;
    if (words == nullptr || (words->empty() && !token.starts_with("--"))) continue;
    text += (text.empty() ? "" : ", ") + token;
    for (const std::string& word : *words) text += " " + word;
  }
  return text;
}

}  // namespace debubble
