#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "formats/frameworks/tree_budget.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

bool is_known_word(const std::string& word, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* known) { return word == known; });
}

// A plain scalar, as YAML 1.1 has it.
JsonValue plain_scalar(const std::string& text) {
  JsonValue value;
  value.text = text;
  if (is_known_word(text, {"", "~", "null", "Null", "NULL"})) return value;
  const bool yes = is_known_word(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"});
  if (yes || is_known_word(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})) {
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
         is_known_word(tag.substr(own.size()), {"str", "int", "float", "bool", "null", "map", "seq"});
}

// Builds the tree from the parser's events, and ends the parse where a bound is reached: what is no text of one
// document must not be held, and the parser calls itself for every level.
class YamlTree : public YAML::EventHandler {
 public:
  explicit YamlTree(ProblemList& problems) : problems_(problems), budget_(problems) {}

  struct Refused {};

  JsonValue& root() { return root_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t anchor) override { leaf(JsonValue{}, anchor); }
  void OnAlias(const YAML::Mark&, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end())
      refuse("P001", "an anchor stands inside of what it names", "write out what it stands for");
    count_copy(found->second, open_.size());
    JsonValue copy = found->second;
    leaf(std::move(copy), 0, false);
  }
  void OnScalar(const YAML::Mark&, const std::string& tag, YAML::anchor_t anchor, const std::string& text) override {
    if (is_key()) return begin_member(text);
    check_tag(tag);
    if (tag != "!" && !tag.ends_with(":str")) return leaf(plain_scalar(text), anchor);
    JsonValue value;
    value.kind = JsonValue::Kind::kString;
    value.text = text;
    leaf(std::move(value), anchor);
  }
  void OnSequenceStart(const YAML::Mark&, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(tag, anchor, JsonValue::Kind::kArray);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark&, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(tag, anchor, JsonValue::Kind::kObject);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    JsonValue value;
    YAML::anchor_t anchor = 0;
    std::string key{};
    bool has_key = false;
    std::set<std::string> keys{};
  };

  [[noreturn]] void refuse(const char* code, std::string message, std::string help) {
    (void)budget_.refuse(code, pointer(), std::move(message), std::move(help));
    throw Refused{};
  }

  [[nodiscard]] std::string pointer() const {
    std::string path;
    for (const Level& level : open_) {
      const bool object = level.value.kind == JsonValue::Kind::kObject;
      if (object && !level.has_key) break;
      path += "/" + (object ? level.key : std::to_string(level.value.children.size()));
    }
    return path;
  }

  void take(std::size_t depth) {
    if (!budget_.take(depth, pointer())) throw Refused{};
  }
  void count_copy(const JsonValue& value, std::size_t depth) {
    for (const JsonValue& child : value.children) {
      take(depth + 1);
      count_copy(child, depth + 1);
    }
  }

  void check_tag(const std::string& tag) {
    if (is_plain_tag(tag)) return;
    refuse("P001", "the tag " + in_quotes(tag) + " would run code, or is another program's", "write the plain value");
  }

  [[nodiscard]] bool is_key() const {
    return !open_.empty() && open_.back().value.kind == JsonValue::Kind::kObject && !open_.back().has_key;
  }

  void begin_member(const std::string& key) {
    if (key == "<<") refuse("P001", "a merge key \"<<\"", "write out what it merges");
    if (open_.back().value.children.size() >= 5'000) {
      refuse("P017", "more than 5000 keys in one object", "give the configuration of one run");
    }
    open_.back().key = key;
    open_.back().has_key = true;
  }

  void leaf(JsonValue value, YAML::anchor_t anchor, bool counted = true) {
    if (is_key()) refuse("P001", "a key that is no text", "write keys as words");
    if (counted) take(open_.size());
    add(std::move(value), anchor);
  }

  void open(const std::string& tag, YAML::anchor_t anchor, JsonValue::Kind kind) {
    if (is_key()) refuse("P001", "a key that is no text", "write keys as words");
    take(open_.size());
    check_tag(tag);
    open_.push_back({{}, anchor});
    open_.back().value.kind = kind;
  }

  void close() {
    Level done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.value), done.anchor);
  }

  void add(JsonValue value, YAML::anchor_t anchor) {
    if (anchor != 0) {
      count_copy(value, open_.size());
      anchored_[anchor] = value;
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Level& around = open_.back();
    if (around.value.kind == JsonValue::Kind::kObject)
      add_member(around, value);
    else
      around.value.children.push_back(std::move(value));
    around.has_key = false;
  }

  void add_member(Level& around, JsonValue& value) {
    value.key = around.key;
    if (around.keys.insert(around.key).second) return around.value.children.push_back(std::move(value));
    const auto first = std::find_if(around.value.children.begin(), around.value.children.end(),
                                    [&](const JsonValue& other) { return other.key == value.key; });
    if (same_value(*first, value)) return;
    problems_.add_at_pointer("P003", pointer(), in_quotes(around.key) + " appears twice, with different values",
                             "remove one");
  }

  ProblemList& problems_;
  TreeBudget budget_;
  JsonValue root_;
  std::vector<Level> open_;
  std::map<YAML::anchor_t, JsonValue> anchored_;
};

// Of a second document: where it begins. What follows a slip at the root comes as documents that have no end.
class NextDocument : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { throw mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

std::string yaml_place(const ProblemList& problems, const YAML::Mark& mark) {
  if (mark.is_null()) return problems.name();
  return problems.name() + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
}

void refuse_next_document(const YAML::Mark& mark, std::string_view text, ProblemList& problems) {
  const bool written =
      mark.pos >= 0 && text.substr(std::min(static_cast<std::size_t>(mark.pos), text.size())).starts_with("---");
  if (written) {
    problems.add("P010", yaml_place(problems, mark), "a second YAML document begins here", "give a file with one");
  } else {
    problems.add("P001", yaml_place(problems, mark), "not YAML: what stands here belongs to nothing before it",
                 "indent it like its neighbours, or remove it");
  }
}

}  // namespace

std::optional<JsonValue> parse_yaml(std::string_view text, ProblemList& problems) {
  if (!is_utf8(text, problems) || !is_short(text, "YAML", problems)) return std::nullopt;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    YamlTree tree(problems);
    if (!parser.HandleNextDocument(tree)) {
      problems.add("P010", problems.name(), "there is nothing in the file", "give a file with one document");
      return std::nullopt;
    }
    NextDocument next;
    (void)parser.HandleNextDocument(next);
    return std::move(tree.root());
  } catch (const YamlTree::Refused&) {
    return std::nullopt;
  } catch (const YAML::Mark& mark) {
    refuse_next_document(mark, text, problems);
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    problems.add("P001", yaml_place(problems, error.mark), "not YAML: " + shortened(error.msg), "correct the line");
    return std::nullopt;
  }
}

const JsonDialect& framework_dialect() {
  static constexpr JsonDialect kDialect{.what = "configuration",
                                        .description = "the framework's documentation",
                                        .most_values = 100'000,
                                        .equal_twice = true};
  return kDialect;
}

std::optional<JsonValue> parse_config_text(std::string_view text, ProblemList& problems) {
  const std::string& name = problems.name();
  if (name.ends_with(".json")) return parse_json(text, problems);
  return name.ends_with(".toml") ? parse_toml(text, problems) : parse_yaml(text, problems);
}

}  // namespace debubble
