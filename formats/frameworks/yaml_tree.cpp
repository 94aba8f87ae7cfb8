#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>

#include "formats/frameworks/tree_budget.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* known) { return word == known; });
}

// A plain scalar, as YAML 1.1 has it.
JsonValue plain_scalar(const std::string& text) {
  JsonValue value;
  value.text = text;
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return value;
  const bool yes = is_one_of(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"});
  if (yes || is_one_of(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})) {
    value.kind = JsonValue::Kind::kBoolean;
    value.text = yes ? "true" : "false";
    return value;
  }
  std::string digits = text;
  std::erase(digits, '_');
  const std::string_view unsigned_digits = std::string_view(digits).substr(digits.starts_with('+') ? 1 : 0);
  const bool numeric = !digits.empty() && text.find_first_not_of("0123456789+-._eE") == std::string::npos;
  if (const auto whole = read_whole<std::int64_t>(unsigned_digits); numeric && whole) {
    value.integer = *whole;
    value.kind = JsonValue::Kind::kInteger;
    value.text = digits;
    return value;
  }
  value.kind = JsonValue::Kind::kString;
  if (numeric && number_of(unsigned_digits)) {
    value.kind = JsonValue::Kind::kFraction;
    value.text = digits;
  }
  return value;
}

// None, "!" of a quoted scalar, or one of YAML's own kinds: "!!int". Python's are "!!python/...".
bool is_plain_tag(const std::string& tag) {
  const std::string own = "tag:yaml.org,2002:";
  if (tag.empty() || tag == "?" || tag == "!") return true;
  return tag.starts_with(own) &&
         is_one_of(tag.substr(own.size()), {"str", "int", "float", "bool", "null", "map", "seq"});
}

class YamlTree {
 public:
  explicit YamlTree(ProblemList& problems) : problems_(problems), budget_(problems) {}

  [[nodiscard]] bool refused() const { return budget_.refused(); }

  JsonValue value_of(const YAML::Node& node, std::size_t depth, const std::string& pointer) {
    JsonValue value;
    if (!budget_.take(depth, pointer)) return value;
    const std::string& tag = node.Tag();
    if (!is_plain_tag(tag)) {
      (void)budget_.refuse("P001", pointer, "the tag " + in_quotes(tag) + " would run code, or is another program's",
                           "write the plain value");
      return value;
    }
    switch (node.Type()) {
      case YAML::NodeType::Map:
        return map_of(node, depth, pointer);
      case YAML::NodeType::Sequence:
        value.kind = JsonValue::Kind::kArray;
        for (std::size_t k = 0; k < node.size() && !refused(); ++k) {
          value.children.push_back(value_of(node[k], depth + 1, pointer + "/" + std::to_string(k)));
        }
        return value;
      case YAML::NodeType::Scalar:
        if (tag != "!" && !tag.ends_with(":str")) return plain_scalar(node.Scalar());
        value.kind = JsonValue::Kind::kString;
        value.text = node.Scalar();
        return value;
      case YAML::NodeType::Null:
      case YAML::NodeType::Undefined:
        break;
    }
    return value;
  }

 private:
  JsonValue map_of(const YAML::Node& node, std::size_t depth, const std::string& pointer) {
    JsonValue value;
    value.kind = JsonValue::Kind::kObject;
    for (const auto& member : node) {
      if (refused()) break;
      if (!member.first.IsScalar()) {
        (void)budget_.refuse("P001", pointer, "a key that is no text", "write keys as words");
        break;
      }
      const std::string& key = member.first.Scalar();
      if (key == "<<") {
        (void)budget_.refuse("P001", pointer, "a merge key \"<<\"", "write out what it merges");
        break;
      }
      if (std::any_of(value.children.begin(), value.children.end(),
                      [&](const JsonValue& other) { return other.key == key; })) {
        problems_.add_at_pointer("P003", pointer + "/" + key, in_quotes(key) + " appears twice", "remove one");
      }
      value.children.push_back(value_of(member.second, depth + 1, pointer + "/" + key));
      value.children.back().key = key;
      if (value.children.size() > 5'000) {
        (void)budget_.refuse("P017", pointer, "more than 5000 keys in one object", "give the configuration of one run");
      }
    }
    return value;
  }

  ProblemList& problems_;
  TreeBudget budget_;
};

}  // namespace

std::optional<JsonValue> parse_yaml(std::string_view text, ProblemList& problems) {
  if (!is_utf8(text, problems) || !is_short(text, "YAML", problems)) return std::nullopt;
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.size() != 1) {
      problems.add("P010", problems.name(), std::to_string(documents.size()) + " YAML documents in one file",
                   "give a file with one");
      return std::nullopt;
    }
    YamlTree tree(problems);
    JsonValue value = tree.value_of(documents.front(), 0, "");
    if (tree.refused()) return std::nullopt;
    return value;
  } catch (const YAML::Exception& error) {
    const std::string place = error.mark.is_null() ? problems.name()
                                                   : problems.name() + ":" + std::to_string(error.mark.line + 1) + ":" +
                                                         std::to_string(error.mark.column + 1);
    problems.add("P001", place, "not YAML: " + shortened(error.msg), "correct the line");
    return std::nullopt;
  }
}

const JsonDialect& framework_dialect() {
  static constexpr JsonDialect kDialect{
      .what = "configuration", .description = "the framework's documentation", .most_values = 100'000};
  return kDialect;
}

std::optional<JsonValue> parse_config_text(std::string_view text, ProblemList& problems) {
  const std::string& name = problems.name();
  if (name.ends_with(".json")) return parse_json(text, problems);
  return name.ends_with(".toml") ? parse_toml(text, problems) : parse_yaml(text, problems);
}

}  // namespace debubble
