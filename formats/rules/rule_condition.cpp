#include "formats/rules/rule_condition.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <stdexcept>
#include <utility>

#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"

namespace debubble {
namespace {

std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
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
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

bool is_fact(std::string_view token) {
  if (token.starts_with("--")) return true;
  return std::isupper(static_cast<unsigned char>(token.front())) != 0 && token.size() > 1 &&
         std::none_of(token.begin(), token.end(), [](char c) { return std::islower(static_cast<unsigned char>(c)); });
}

std::string_view without_dashes(std::string_view token) { return token.starts_with("--") ? token.substr(2) : token; }

}  // namespace

// What an operand comes to. Neither: it has no value.
struct RuleCondition::Found {
  std::optional<double> number;
  const std::vector<std::string>* words = nullptr;

  [[nodiscard]] bool truth() const { return number ? *number != 0 : words != nullptr; }
};

class RuleCondition::Reader {
 public:
  Reader(std::string_view text, RuleCondition& into) : text_(text), tokens_(tokens_of(text)), into_(into) {}

  void run() {
    (void)any();
    if (at_ != tokens_.size()) wrong();
  }

 private:
  [[noreturn]] void wrong() const { throw std::logic_error("no condition: " + std::string(text_)); }

  bool take(std::string_view token) {
    if (at_ == tokens_.size() || tokens_[at_] != token) return false;
    ++at_;
    return true;
  }

  std::string_view next() {
    if (at_ == tokens_.size()) wrong();
    return tokens_[at_++];
  }

  int add(Node node) {
    into_.nodes_.push_back(std::move(node));
    return static_cast<int>(into_.nodes_.size()) - 1;
  }
  int add(Sign sign, int left, int right = -1) { return add(Node{sign, left, right, {}, {}}); }

  RuleName fact(std::string_view token) {
    auto& names = into_.names_;
    if (std::find(names.begin(), names.end(), token) == names.end()) names.push_back(token);
    return without_dashes(token);
  }

  int any() {
    int node = all();
    while (take("or")) node = add(Sign::kOr, node, all());
    return node;
  }

  int all() {
    int node = negation();
    while (take("and")) node = add(Sign::kAnd, node, negation());
    return node;
  }

  int negation() { return take("not") ? add(Sign::kNot, negation()) : comparison(); }

  int comparison() {
    if (take("given")) return add(Node{Sign::kGiven, -1, -1, fact(next()), {}});
    static constexpr std::array<std::pair<const char*, Sign>, 6> kSigns{{{"==", Sign::kEqual},
                                                                         {"!=", Sign::kUnequal},
                                                                         {"<=", Sign::kAtMost},
                                                                         {">=", Sign::kAtLeast},
                                                                         {"<", Sign::kBelow},
                                                                         {">", Sign::kAbove}}};
    const int left = sum();
    for (const auto& [word, sign] : kSigns) {
      if (take(word)) return add(sign, left, sum());
    }
    const bool inside = take("in");
    if (!inside && !take("outside")) return left;
    return add(Node{inside ? Sign::kIn : Sign::kOutside, left, -1, {}, {split(std::string(next())), {}}});
  }

  int sum() {
    int node = product();
    for (;;) {
      const bool plus = take("+");
      if (!plus && !take("-")) return node;
      node = add(plus ? Sign::kPlus : Sign::kMinus, node, product());
    }
  }

  int product() {
    int node = item();
    for (;;) {
      const std::string_view sign = at_ < tokens_.size() ? tokens_[at_] : "";
      if (sign != "*" && sign != "/" && sign != "%") return node;
      ++at_;
      node = add(sign == "*" ? Sign::kTimes : sign == "/" ? Sign::kDivided : Sign::kRest, node, item());
    }
  }

  int item() {
    const std::string_view token = next();
    if (token == "(") {
      const int node = any();
      if (!take(")")) wrong();
      return node;
    }
    if (is_fact(token)) return add(Node{Sign::kFact, -1, -1, fact(token), {}});
    if (std::isalnum(static_cast<unsigned char>(token.front())) == 0) wrong();
    return add(Node{Sign::kWord, -1, -1, {}, {{std::string(token)}, number_of(token)}});
  }

  std::string_view text_;
  std::vector<std::string_view> tokens_;
  RuleCondition& into_;
  std::size_t at_ = 0;
};

RuleCondition::RuleCondition(std::string_view text) { Reader(text, *this).run(); }

bool RuleCondition::holds(const RuleFacts& facts) const {
  return of(static_cast<int>(nodes_.size()) - 1, facts).truth();
}

bool RuleCondition::compared(const Node& node, const RuleFacts& facts) const {
  const Found left = of(node.left, facts);
  if (node.sign == Sign::kIn || node.sign == Sign::kOutside) {
    const auto listed = [&](const std::string& word) {
      const auto& list = node.value.words;
      return (std::find(list.begin(), list.end(), word) != list.end()) == (node.sign == Sign::kIn);
    };
    if (left.words == nullptr) return false;
    if (left.words->empty() && left.number) return listed(std::to_string(static_cast<std::int64_t>(*left.number)));
    return std::any_of(left.words->begin(), left.words->end(), listed);
  }
  const Found right = of(node.right, facts);
  if (left.number && right.number) {
    const double a = *left.number;
    const double b = *right.number;
    if (node.sign == Sign::kEqual) return a == b;
    if (node.sign == Sign::kUnequal) return a != b;
    if (node.sign == Sign::kAtMost) return a <= b;
    if (node.sign == Sign::kAtLeast) return a >= b;
    return node.sign == Sign::kBelow ? a < b : a > b;
  }
  const bool both = left.words != nullptr && right.words != nullptr && !left.words->empty() && !right.words->empty();
  if (!both || (node.sign != Sign::kEqual && node.sign != Sign::kUnequal)) return false;
  return (left.words->front() == right.words->front()) == (node.sign == Sign::kEqual);
}

RuleCondition::Found RuleCondition::of(int number, const RuleFacts& facts) const {
  const Node& node = nodes_[static_cast<std::size_t>(number)];
  const auto truth = [](bool holds) { return Found{holds ? 1.0 : 0.0, nullptr}; };
  if (node.sign == Sign::kWord) return {node.value.number, &node.value.words};
  if (node.sign == Sign::kFact) {
    const RuleValue* value = facts.find(node.name);
    return value == nullptr ? Found{} : Found{value->number, &value->words};
  }
  if (node.sign == Sign::kGiven) return truth(facts.given(node.name));
  if (node.sign == Sign::kOr) return truth(of(node.left, facts).truth() || of(node.right, facts).truth());
  if (node.sign == Sign::kAnd) return truth(of(node.left, facts).truth() && of(node.right, facts).truth());
  if (node.sign == Sign::kNot) return truth(!of(node.left, facts).truth());
  if (node.sign < Sign::kPlus) return truth(compared(node, facts));
  const std::optional<double> a = of(node.left, facts).number;
  const std::optional<double> b = of(node.right, facts).number;
  if (!a || !b) return {};
  if (node.sign == Sign::kPlus) return {*a + *b, nullptr};
  if (node.sign == Sign::kMinus) return {*a - *b, nullptr};
  if (node.sign == Sign::kTimes) return {*a * *b, nullptr};
  const auto whole = static_cast<std::int64_t>(*a);
  const auto by = static_cast<std::int64_t>(*b);
  if (by == 0) return {};
  return {static_cast<double>(node.sign == Sign::kDivided ? whole / by : whole % by), nullptr};
}

bool holds(std::string_view condition, const RuleFacts& facts) { return RuleCondition(condition).holds(facts); }

}  // namespace debubble
