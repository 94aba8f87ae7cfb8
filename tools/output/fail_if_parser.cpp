// The grammar of --fail-if.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "tools/output/fail_if.hpp"
#include "tools/output/metrics.hpp"

namespace debubble {

// Recursive descent:  or := and {"||" and}   and := term {"&&" term}   term := "(" or ")" | NAME OP VALUE
class FailIfParser {
 public:
  FailIfParser(std::string_view text, std::string_view place) : text_(text), place_(place) {}

  FailIf run() {
    result_.place_ = std::string(place_);
    skip_blanks();
    if (at_end()) fail("C031", "the expression is empty", at_, 0);
    parse_or(0);
    if (!at_end()) fail("C031", fmt::format("expected && or || or the end, found '{}'", word()), at_, word().size());
    return std::move(result_);
  }

 private:
  using Node = FailIf::Node;
  static constexpr int kDeepest = 100;  // parentheses in parentheses; protects the stack

  std::size_t parse_or(int depth) { return parse_chain(depth, "||", Node::Kind::kOr); }

  // One level of the grammar: operands joined by `sign`, to the left.
  std::size_t parse_chain(int depth, std::string_view sign, Node::Kind kind) {
    const auto operand = [&] {
      return kind == Node::Kind::kOr ? parse_chain(depth, "&&", Node::Kind::kAnd) : parse_term(depth);
    };
    std::size_t left = operand();
    while (accept(sign)) {
      Node node;
      node.kind = kind;
      node.left = left;
      node.right = operand();
      left = push(std::move(node));
    }
    return left;
  }

  std::size_t parse_term(int depth) {
    if (depth > kDeepest) fail("C031", "the parentheses are nested too deeply", at_, 1);
    const std::size_t open = at_;
    if (!accept("(")) return parse_comparison();
    const std::size_t inner = parse_or(depth + 1);
    if (!accept(")")) fail("C031", "this parenthesis is not closed", open, 1);
    return inner;
  }

  std::size_t parse_comparison() {
    Node node;
    const std::size_t name_at = at_;
    const std::string_view name = take_name();
    if (name.empty()) {
      const std::string message = at_end() ? "the expression ends where a comparison is expected"
                                           : fmt::format("expected a name, found '{}'", word());
      fail("C031", message, at_, word().size());
    }
    const Metric* metric = find_metric(name);
    if (metric == nullptr) unknown_name(name, name_at);
    node.metric = static_cast<std::size_t>(metric - metric_catalog().data());
    skip_blanks();
    const std::string_view sign = take_sign(node, name);
    skip_blanks();
    const std::string_view value = take_value(name, sign);
    read_value(node, *metric, name, value);
    node.text = fmt::format("{} {} {}", name, sign, value);
    skip_blanks();
    return push(std::move(node));
  }

  [[noreturn]] void unknown_name(std::string_view name, std::size_t at) {
    const std::string meant = closest_metric(name);
    const std::string hint = meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant);
    std::string names = "known names:";
    for (const Metric& metric : metric_catalog()) {
      if (metric.name.find('.') != std::string_view::npos) continue;
      names += fmt::format(" {}", metric.alias.empty() ? metric.name : metric.alias);
    }
    names += ", and the keys of idle_by_cause, peak_by_category and critical_path: idle_by_cause.fill";
    fail("C032", fmt::format("'{}' is not a number of the report{}", name, hint), at, name.size(), std::move(names));
  }

  std::string_view take_sign(Node& node, std::string_view name) {
    struct Sign {
      std::string_view text;
      FailIf::Compare compare;
    };
    // Two-letter signs first, since their first letters are signs too.
    static constexpr std::array<Sign, 6> kSigns = {{{"<=", FailIf::Compare::kLessEqual},
                                                    {">=", FailIf::Compare::kGreaterEqual},
                                                    {"==", FailIf::Compare::kEqual},
                                                    {"!=", FailIf::Compare::kNotEqual},
                                                    {"<", FailIf::Compare::kLess},
                                                    {">", FailIf::Compare::kGreater}}};
    for (const Sign& sign : kSigns) {
      if (!text_.substr(at_).starts_with(sign.text)) continue;
      at_ += sign.text.size();
      node.compare = sign.compare;
      return sign.text;
    }
    fail("C031", fmt::format("expected < <= > >= == or != after '{}'", name), at_,
         std::max<std::size_t>(1, word().size()));
  }

  std::string_view take_value(std::string_view name, std::string_view sign) {
    const std::size_t begin = at_;
    while (!at_end() && std::string_view("&|()<>=! \t").find(text_[at_]) == std::string_view::npos) ++at_;
    // "1.5 ms": a unit may be apart from its number.
    const std::string_view number = text_.substr(begin, at_ - begin);
    if (!number.empty() && number.find_first_not_of("0123456789.") == std::string_view::npos) {
      std::size_t unit = at_;
      while (unit < text_.size() && text_[unit] == ' ') ++unit;
      std::size_t end = unit;
      while (end < text_.size() && std::string_view("&|()<>=! \t").find(text_[end]) == std::string_view::npos) ++end;
      if (end > unit) at_ = end;
    }
    if (at_ == begin) fail("C031", fmt::format("expected a value after '{} {}'", name, sign), at_, word().size());
    return text_.substr(begin, at_ - begin);
  }

  void read_value(Node& node, const Metric& metric, std::string_view name, std::string_view value) {
    const std::size_t at = at_ - value.size();
    // "makespan_ns > 1200000": the name spells the unit out.
    const bool spelt_out = name == metric.key && metric.key != metric.name;
    const bool bare = value.find_first_not_of("0123456789.") == std::string_view::npos;
    const auto with_unit = [&](const char* unit) { return std::string(value) + (bare && spelt_out ? unit : ""); };
    switch (metric.unit) {
      case MetricUnit::kNanoseconds:
        node.integer = placed(name, value, [&] { return parse_duration(with_unit("ns"), place_); });
        return;
      case MetricUnit::kBytes:
        node.integer = placed(name, value, [&] { return parse_size(with_unit("B"), place_); });
        return;
      case MetricUnit::kCount:
        node.integer = read_count(value, at, name);
        return;
      case MetricUnit::kRatio:
        node.real = read_real(value, true, at, name);
        if (node.real > 1 && metric.key != "bubble_over_ideal") {
          fail("C033", fmt::format("{} is never more than 1; {} would be {}", name, value, format_percent(node.real)),
               at, value.size(), fmt::format("for a percentage write {}%", value));
        }
        return;
      case MetricUnit::kNumber:
        node.real = read_real(value, false, at, name);
        return;
    }
  }

  // What `parse` makes of the value just taken; its complaint gets our code and the place in the expression.
  template <typename Parse>
  std::int64_t placed(std::string_view name, std::string_view value, Parse parse) const {
    try {
      return parse();
    } catch (const InputError& error) {
      Diagnostic problem = error.diagnostics().front();
      problem.code = "C033";
      problem.message = fmt::format("'{}' cannot be compared with {}: {}", value, name, problem.message);
      problem.place = place_at(at_ - value.size(), value.size());
      throw InputError(std::move(problem));
    }
  }

  std::int64_t read_count(std::string_view value, std::size_t at, std::string_view name) const {
    const auto count = count_of(value, std::numeric_limits<std::int64_t>::max());
    if (!count) fail("C033", fmt::format("{} is a count; '{}' is not", name, value), at, value.size());
    return *count;
  }

  double read_real(std::string_view value, bool percent_allowed, std::size_t at, std::string_view name) const {
    const bool percent = percent_allowed && value.ends_with('%');
    std::string_view digits = value.substr(0, value.size() - (percent ? 1 : 0));
    while (digits.ends_with(' ')) digits.remove_suffix(1);
    const auto number = digits.find_first_of("eE") == std::string_view::npos ? number_of(digits) : std::nullopt;
    if (!number) {
      fail("C033",
           fmt::format("{} is a plain number{}; '{}' is not", name, percent_allowed ? " or a percentage" : "", value),
           at, value.size());
    }
    return percent ? *number / 100 : *number;
  }

  std::string_view take_name() {
    const std::size_t begin = at_;
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto continues = [&](char c) { return is_letter(c) || c == '.' || (c >= '0' && c <= '9'); };
    if (at_end() || !is_letter(text_[at_])) return {};
    while (!at_end() && continues(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  bool accept(std::string_view sign) {
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    skip_blanks();
    return true;
  }

  void skip_blanks() {
    while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }

  // What is here, up to the next blank: for messages.
  [[nodiscard]] std::string_view word() const {
    return text_.substr(at_, std::min(text_.find_first_of(" \t", at_), text_.size()) - at_);
  }

  std::size_t push(Node node) {
    result_.nodes_.push_back(std::move(node));
    return result_.nodes_.size() - 1;
  }

  // "--fail-if:8" and under it the text with carets below the culprit, as compilers show it.
  [[nodiscard]] std::string place_at(std::size_t at, std::size_t length) const {
    std::string shown(text_);
    std::replace_if(
        shown.begin(), shown.end(), [](unsigned char c) { return c < ' '; }, ' ');
    return fmt::format("{}:{}\n   |\n   | {}\n   | {}{}", place_, at + 1, shown, std::string(at, ' '),
                       std::string(std::max<std::size_t>(1, length), '^'));
  }

  [[noreturn]] void fail(std::string code, std::string message, std::size_t at, std::size_t length,
                         std::string help = "") const {
    if (help.empty()) help = "write it like 'bubble>25% || mem>76GiB && step<=1.2s'";
    throw InputError(Diagnostic{std::move(code), place_at(at, length), std::move(message), std::move(help)});
  }

  std::string_view text_;
  std::string_view place_;
  std::size_t at_ = 0;
  FailIf result_;
};

FailIf FailIf::parse(std::string_view text, std::string_view place) { return FailIfParser(text, place).run(); }

}  // namespace debubble
