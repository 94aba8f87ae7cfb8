#include "formats/json/json_tree.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "formats/json/json_fault.hpp"
#include "formats/text/text.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

// RFC 6901; characters that would garble a terminal are escaped as in JSON.
std::string pointer_token(const std::string& key) {
  const std::string literal = in_quotes(key);
  std::string token;
  for (const char character : literal.substr(1, literal.size() - 2)) {
    if (character == '~') {
      token += "~0";
    } else if (character == '/') {
      token += "~1";
    } else {
      token += character;
    }
  }
  return token;
}

// nlohmann's message without its own prefix: "[json.exception...] parse error at line 1, column 2: MESSAGE".
std::string reason_of(std::string_view what) {
  if (const auto bracket = what.find("] "); bracket != std::string_view::npos) what.remove_prefix(bracket + 2);
  if (what.starts_with("parse error")) {
    if (const auto colon = what.find(": "); colon != std::string_view::npos) what.remove_prefix(colon + 2);
  }
  return shortened(what, 200);
}

// Builds the tree from nlohmann's events. An open container is always the last child of the open container around it,
// so the pointers in open_ stay valid while they are in use.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(std::string_view text, ProblemList& problems, IntegerArrays arrays)
      : text_(text), problems_(problems), packs_(arrays == IntegerArrays::kPacked) {}

  JsonValue& root() {
    if (doubled_ && problems_.dialect().equal_twice) drop_doubles(root_, "");
    return root_;
  }

  bool null() override { return leaf(JsonValue::Kind::kNull, {}); }
  bool boolean(bool value) override { return leaf(JsonValue::Kind::kBoolean, value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return integer(value); }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto kMost = static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
    if (value > kMost) return leaf(JsonValue::Kind::kHugeInteger, std::to_string(value));
    return integer(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    const bool whole = text.find_first_of(".eE") == std::string::npos;
    return leaf(whole ? JsonValue::Kind::kHugeInteger : JsonValue::Kind::kFraction, text);
  }
  bool string(string_t& value) override { return leaf(JsonValue::Kind::kString, std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }  // JSON text has none

  bool start_object(std::size_t /*elements*/) override { return open(JsonValue::Kind::kObject); }
  bool start_array(std::size_t /*elements*/) override { return open(JsonValue::Kind::kArray); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& value) override {
    const bool doubled = !keys_.back().insert(value).second;
    doubled_ = doubled_ || doubled;
    if (doubled && !problems_.dialect().equal_twice) {
      problems_.add_at_pointer("P003", pointer() + "/" + pointer_token(value), in_quotes(value) + " appears twice",
                               "keep one of the two");
    }
    key_ = std::move(value);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& error) override {
    // Versions of the library word this one differently.
    const std::size_t offset = position > 0 ? position - 1 : 0;
    const JsonFault fault = json_fault(text_, offset);
    const std::string reason = text_.empty()        ? "the file is empty"
                               : fault.what.empty() ? reason_of(error.what())
                                                    : fault.what;
    const std::string help = fault.what.empty() ? std::string("the file may be cut off or edited by hand; ") +
                                                      problems_.dialect().description + " describes it"
                                                : fault.help;
    problems_.add("P001", place_of(problems_.name(), text_, offset), "not valid JSON: " + reason, help);
    return false;
  }

 private:
  JsonValue& add(JsonValue::Kind kind) {
    if (!open_.empty()) unpack(*open_.back());
    JsonValue& value = open_.empty() ? root_ : open_.back()->children.emplace_back();
    value.kind = kind;
    value.key = std::move(key_);
    key_.clear();
    return value;
  }

  bool leaf(JsonValue::Kind kind, std::string text) {
    if (!counts_one_more()) return false;
    add(kind).text = std::move(text);
    return true;
  }

  // Of what becomes a JsonValue. A refused one ends the parse.
  bool counts_one_more() {
    const JsonDialect& dialect = problems_.dialect();
    const std::size_t items = open_.empty() ? 0 : open_.back()->children.size() + open_.back()->integers.size();
    if (++values_ <= dialect.most_values && items < dialect.most_items) return true;
    const bool many_items = items >= dialect.most_items;
    problems_.add_at_pointer("P017", pointer(),
                             "more than " + std::to_string(many_items ? dialect.most_items : dialect.most_values) +
                                 (many_items ? " values in one array or object" : " values"),
                             std::string("no ") + dialect.what + " is so large: check that this is the file you meant");
    return false;
  }

  // An array that turns out to hold something else as well becomes one like any other.
  static void unpack(JsonValue& array) {
    for (const std::int64_t value : array.integers) set_integer(array.children.emplace_back(), value);
    array.integers = {};
  }

  static void set_integer(JsonValue& to, std::int64_t value) {
    to.kind = JsonValue::Kind::kInteger;
    to.integer = value;
    to.text = std::to_string(value);
  }

  bool integer(std::int64_t value) {
    if (packs_ && !open_.empty() && open_.back()->kind == JsonValue::Kind::kArray && open_.back()->children.empty()) {
      open_.back()->integers.push_back(value);
      return true;
    }
    if (!counts_one_more()) return false;
    set_integer(add(JsonValue::Kind::kInteger), value);
    return true;
  }

  bool open(JsonValue::Kind kind) {
    if (open_.size() == kDeepestNesting) {
      problems_.add_at_pointer(
          "P018", pointer(), "nested more than " + std::to_string(kDeepestNesting) + " deep",
          std::string("a ") + problems_.dialect().what + " needs five levels; this is another kind of file");
      return false;
    }
    if (!counts_one_more()) return false;
    open_.push_back(&add(kind));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  // Of members with one key the first stays; another value is a problem.
  void drop_doubles(JsonValue& value, const std::string& pointer) {
    const bool object = value.kind == JsonValue::Kind::kObject;
    std::map<std::string, std::size_t> first;  // among the kept
    std::vector<JsonValue> kept;
    for (JsonValue& child : value.children) {
      const std::string place = pointer + "/" + (object ? pointer_token(child.key) : std::to_string(kept.size()));
      drop_doubles(child, place);
      const bool found = object && !first.emplace(child.key, kept.size()).second;
      if (!found) {
        kept.push_back(std::move(child));
      } else if (!same_value(kept[first[child.key]], child)) {
        problems_.add_at_pointer("P003", place, in_quotes(child.key) + " appears twice, with different values",
                                 "keep one of the two");
      }
    }
    value.children = std::move(kept);
  }

  [[nodiscard]] std::string pointer() const {
    std::string result;
    for (std::size_t depth = 1; depth < open_.size(); ++depth) {
      const JsonValue& parent = *open_[depth - 1];
      const bool in_object = parent.kind == JsonValue::Kind::kObject;
      result += "/" + (in_object ? pointer_token(open_[depth]->key) : std::to_string(parent.children.size() - 1));
    }
    return result;
  }

  std::string_view text_;
  ProblemList& problems_;
  bool packs_;
  JsonValue root_;
  std::vector<JsonValue*> open_;
  std::vector<std::set<std::string>> keys_;  // of each open container; arrays have none
  std::string key_;
  std::size_t values_ = 0;
  bool doubled_ = false;
};

}  // namespace

std::string describe(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBoolean:
      return value.text;
    case JsonValue::Kind::kInteger:
    case JsonValue::Kind::kHugeInteger:
    case JsonValue::Kind::kFraction:
      return shortened(value.text);
    case JsonValue::Kind::kString:
      return "the string " + in_quotes(value.text);
    case JsonValue::Kind::kArray:
      return "an array";
    case JsonValue::Kind::kObject:
      return "an object";
  }
  return {};
}

bool same_value(const JsonValue& one, const JsonValue& other) {
  return one.kind == other.kind && one.text == other.text && one.integers == other.integers &&
         std::equal(one.children.begin(), one.children.end(), other.children.begin(), other.children.end(),
                    [](const JsonValue& left, const JsonValue& right) {
                      return left.key == right.key && same_value(left, right);
                    });
}

std::optional<double> number_of(const JsonValue& value) {
  if (value.kind != JsonValue::Kind::kInteger && value.kind != JsonValue::Kind::kFraction) return std::nullopt;
  return number_of(value.text);
}

std::optional<JsonValue> parse_json(std::string_view text, ProblemList& problems, IntegerArrays arrays) {
  if (const auto bad = first_bad_utf8(text)) {
    problems.add("P002", place_of(problems.name(), text, *bad), "not UTF-8 text",
                 std::string("save the file as UTF-8; a ") + problems.dialect().what + " is text, never a binary file");
    return std::nullopt;
  }
  TreeBuilder builder(text, problems, arrays);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) return std::nullopt;
  return std::move(builder.root());
}

}  // namespace debubble
