#include <toml++/toml.h>

#include <sstream>

#include "formats/frameworks/toml_check.hpp"
#include "formats/frameworks/tree_budget.hpp"

namespace debubble {
namespace {

class TomlTree {
 public:
  explicit TomlTree(ProblemList& problems) : budget_(problems) {}

  [[nodiscard]] bool refused() const { return budget_.refused(); }

  JsonValue value_of(const toml::node& node, std::size_t depth, const std::string& pointer) {
    JsonValue value;
    if (!budget_.take(depth, pointer)) return value;
    if (const toml::table* table = node.as_table()) {
      value.kind = JsonValue::Kind::kObject;
      for (const auto& [key, member] : *table) {
        const std::string name(key.str());
        value.children.push_back(value_of(member, depth + 1, pointer + "/" + name));
        value.children.back().key = name;
      }
      return value;
    }
    if (const toml::array* array = node.as_array()) {
      value.kind = JsonValue::Kind::kArray;
      for (const toml::node& item : *array) {
        value.children.push_back(value_of(item, depth + 1, pointer + "/" + std::to_string(value.children.size())));
      }
      return value;
    }
    return plain_value(node);
  }

 private:
  static JsonValue plain_value(const toml::node& node) {
    JsonValue value;
    if (const auto* text = node.as_string()) {
      value.kind = JsonValue::Kind::kString;
      value.text = text->get();
    } else if (const auto* number = node.as_integer()) {
      value.kind = JsonValue::Kind::kInteger;
      value.integer = number->get();
      value.text = std::to_string(number->get());
    } else if (const auto* yes = node.as_boolean()) {
      value.kind = JsonValue::Kind::kBoolean;
      value.text = yes->get() ? "true" : "false";
    } else {
      std::ostringstream out;  // fractions, and dates, which nobody asks for
      node.is_floating_point() ? out << *node.as_floating_point() : out << "a date";
      value.kind = node.is_floating_point() ? JsonValue::Kind::kFraction : JsonValue::Kind::kString;
      value.text = out.str();
    }
    return value;
  }

  TreeBudget budget_;
};

}  // namespace

std::optional<JsonValue> parse_toml(std::string_view text, ProblemList& problems) {
  if (!is_utf8(text, problems) || !is_short(text, "TOML", problems)) return std::nullopt;
  if (const std::optional<TomlFault> fault = toml_fault(text)) {
    problems.add(fault->code, problems.name() + ":" + std::to_string(fault->line),
                 std::string("not TOML: ") + fault->what, fault->help);
    return std::nullopt;
  }
  try {
    const toml::table root = toml::parse(text);
    TomlTree tree(problems);
    JsonValue value = tree.value_of(root, 0, "");
    if (tree.refused()) return std::nullopt;
    return value;
  } catch (const toml::parse_error& error) {
    problems.add("P001",
                 problems.name() + ":" + std::to_string(error.source().begin.line) + ":" +
                     std::to_string(error.source().begin.column),
                 "not TOML: " + std::string(error.description()), "see toml.io for how a value is written");
    return std::nullopt;
  }
}

}  // namespace debubble
