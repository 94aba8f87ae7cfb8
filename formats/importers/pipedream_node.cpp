#include "formats/importers/pipedream_node.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "formats/text/text.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr const char* kLineHelp =
    "a node line reads: node4 -- ReLU -- forward_compute_time=0.5, backward_compute_time=0.9, activation_size=4.0, "
    "parameter_size=0.0";

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

bool is_control(char character) { return static_cast<unsigned char>(character) < 0x20 || character == 0x7F; }

// What a decimal is counted in: `places` decimal places of the file's unit make the smallest unit of ours.
struct DecimalRule {
  std::size_t places;
  std::int64_t most;
  const char* unit;
  const char* finest;
};
constexpr DecimalRule kMilliseconds{6, kLongestDuration, "milliseconds", "whole nanoseconds"};
constexpr DecimalRule kByteCount{0, kLargestSize, "bytes", "whole bytes"};

// One line's attributes, with the machinery to report what is wrong with them.
class AttributeReader {
 public:
  AttributeReader(const std::string& place, ProblemList& problems) : place_(place), problems_(problems) {}

  void read(std::string_view text, PipedreamNode& node) {
    for (const std::string_view item : split_fields(text, ", ")) read_one(item, node);
    for (std::size_t k = 0; k < kNames.size(); ++k) {
      if (!seen_[k]) complain("P006", std::string(kNames[k]) + " is missing", kLineHelp);
    }
  }

  [[nodiscard]] bool failed() const { return failed_; }

 private:
  static constexpr std::array<std::string_view, 4> kNames{"forward_compute_time", "backward_compute_time",
                                                          "activation_size", "parameter_size"};

  void complain(std::string code, std::string message, std::string help) {
    failed_ = true;
    problems_.add(std::move(code), place_, std::move(message), std::move(help));
  }

  void read_one(std::string_view item, PipedreamNode& node) {
    const std::size_t equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    const auto known = std::find(kNames.begin(), kNames.end(), key);
    if (equals == std::string_view::npos || known == kNames.end()) return complain_unknown(key);
    const auto index = static_cast<std::size_t>(known - kNames.begin());
    if (std::exchange(seen_[index], true)) {
      return complain("P003", std::string(key) + " appears twice", "keep one of the two");
    }
    const std::string_view value = item.substr(equals + 1);
    const std::array<std::int64_t*, 4> fields{&node.forward, &node.backward, &node.activation, &node.parameters};
    if (index == 2 && value.starts_with('[')) {
      node.activation = sum_of_list(key, value);
    } else {
      *fields[index] = decimal(key, value, index < 2 ? kMilliseconds : kByteCount);
    }
  }

  void complain_unknown(std::string_view key) {
    const std::vector<std::string> names(kNames.begin(), kNames.end());
    const std::string meant = closest_name(key, names);
    complain("P005", "unknown attribute " + in_quotes(key), meant.empty() ? kLineHelp : "did you mean " + meant + "?");
  }

  // "[6291456.0; 131072.0]": a module that returns several tensors.
  std::int64_t sum_of_list(std::string_view key, std::string_view text) {
    if (!text.ends_with(']') || text.size() < 3) {
      complain("G002", std::string(key) + " begins a list that does not end: " + in_quotes(text),
               "lists read [6291456.0; 131072.0]");
      return 0;
    }
    std::int64_t sum = 0;
    for (const std::string_view item : split_fields(text.substr(1, text.size() - 2), "; ")) {
      const std::int64_t value = decimal(key, item, kByteCount);
      if (value > kLargestSize - sum) {
        complain_too_large(key, text, kByteCount);
        return 0;
      }
      sum += value;
    }
    return sum;
  }

  void complain_too_large(std::string_view key, std::string_view text, const DecimalRule& rule) {
    complain("P004", std::string(key) + " is too large: " + in_quotes(text) + " " + rule.unit,
             "the largest is " + std::to_string(rule.most) + " " + rule.finest);
  }

  std::int64_t decimal(std::string_view key, std::string_view text, const DecimalRule& rule) {
    const std::string what = std::string(key) + " must be a decimal number of " + rule.unit;
    const bool negative = text.starts_with('-');
    const std::string_view digits = negative ? text.substr(1) : text;
    const std::size_t point = digits.find('.');
    const std::string_view whole = digits.substr(0, point);
    const std::string_view fraction = point == std::string_view::npos ? "0" : digits.substr(point + 1);
    if (!is_digits(whole) || !is_digits(fraction)) {
      complain("P007", what + "; got " + in_quotes(text), "numbers read 12.345, without exponent");
    } else if (negative) {
      complain("P004", what + ", at least 0; got " + in_quotes(text), "durations and sizes are never negative");
    } else if (fraction.substr(std::min(rule.places, fraction.size())).find_first_not_of('0') !=
               std::string_view::npos) {
      complain("P004", what + " that makes " + rule.finest + "; got " + in_quotes(text), "give fewer decimal places");
    } else {
      return scaled(key, text, whole, fraction, rule);
    }
    return 0;
  }

  // Exact: the digits before the point, followed by `places` digits after it, are one integer.
  std::int64_t scaled(std::string_view key, std::string_view text, std::string_view whole, std::string_view fraction,
                      const DecimalRule& rule) {
    std::string digits = std::string(whole) + std::string(fraction.substr(0, rule.places));
    if (fraction.size() < rule.places) digits.append(rule.places - fraction.size(), '0');
    std::int64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec == std::errc() && value <= rule.most) return value;
    complain_too_large(key, text, rule);
    return 0;
  }

  const std::string& place_;
  ProblemList& problems_;
  std::array<bool, 4> seen_{};
  bool failed_ = false;
};

}  // namespace

std::vector<std::string_view> split_fields(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> fields;
  for (std::size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    fields.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  fields.push_back(text);
  return fields;
}

std::optional<std::int64_t> node_number(std::string_view text) {
  constexpr std::string_view kPrefix = "node";
  constexpr std::size_t kMostDigits = 9;
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  if (!is_digits(text) || text.size() > kMostDigits || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::optional<PipedreamNode> parse_node(std::string_view line, const std::string& place, ProblemList& problems) {
  const std::vector<std::string_view> fields = split_fields(line, " -- ");
  const bool has_stage = fields.size() == 4 && fields[3].starts_with("stage_id=") && is_digits(fields[3].substr(9));
  if (fields.size() != 3 && !has_stage) {
    problems.add("G002", place,
                 "a node has a name, a description and its attributes; got " + std::to_string(fields.size()) +
                     (fields.size() == 1 ? " field" : " fields"),
                 kLineHelp);
    return std::nullopt;
  }
  PipedreamNode node;
  node.has_stage = has_stage;
  node.description = fields[1];
  const std::optional<std::int64_t> number = node_number(fields[0]);
  if (!number)
    problems.add("G002", place, "not a node's name: " + in_quotes(fields[0]), "nodes are called node1, node2, ...");
  const bool clean = std::none_of(fields[1].begin(), fields[1].end(), is_control);
  if (!clean) {
    problems.add("G024", place, "a control character in the description " + in_quotes(fields[1]), "remove it");
  }
  AttributeReader reader(place, problems);
  reader.read(fields[2], node);
  if (!number || !clean || reader.failed()) return std::nullopt;
  node.number = *number;
  return node;
}

}  // namespace debubble
