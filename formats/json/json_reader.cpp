#include "formats/json/json_reader.hpp"

#include <algorithm>
#include <utility>

#include "formats/text/text.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {

JsonObjectReader::JsonObjectReader(const JsonValue& value, std::string pointer, ProblemList& problems)
    : value_(value), pointer_(std::move(pointer)), problems_(problems) {
  if (is_object()) return;
  complain("P007", "", "an object is expected here; got " + describe(value), "objects are written {\"key\": value}");
}

void JsonObjectReader::complain(std::string code, std::string_view key, std::string message, std::string help) {
  problems_.add_at_pointer(std::move(code), key.empty() ? pointer_ : pointer_to(key), std::move(message),
                           std::move(help));
}

const JsonValue* JsonObjectReader::member(std::string_view key, bool required) {
  known_.emplace_back(key);
  if (!is_object()) return nullptr;
  for (const JsonValue& child : value_.children) {
    if (child.key == key) return &child;
  }
  if (required) complain("P006", "", in_quotes(key) + " is missing", described() + " lists what must be there");
  return nullptr;
}

std::int64_t JsonObjectReader::checked_integer(const JsonValue& value, std::string_view key, const IntegerRule& rule) {
  const bool huge = value.kind == JsonValue::Kind::kHugeInteger;
  const std::string what = in_quotes(key) + " must be a whole number of " + rule.unit;
  if (value.kind != JsonValue::Kind::kInteger && !huge) {
    complain("P007", key, what + "; got " + describe(value), rule.help);
  } else if (huge ? value.text.front() == '-' : value.integer < rule.least) {
    complain("P004", key, what + ", at least " + std::to_string(rule.least) + "; got " + describe(value), rule.help);
  } else if (huge || value.integer > rule.most) {
    complain("P004", key, what + ", at most " + std::to_string(rule.most) + "; got " + describe(value), rule.help);
  } else {
    return value.integer;
  }
  return rule.least;
}

std::int64_t JsonObjectReader::integer(std::string_view key, const IntegerRule& rule) {
  const JsonValue* value = member(key, true);
  return value == nullptr ? rule.least : checked_integer(*value, key, rule);
}

std::int64_t JsonObjectReader::integer_or_null(std::string_view key, const IntegerRule& rule) {
  const JsonValue* value = member(key, true);
  if (value == nullptr || value->kind == JsonValue::Kind::kNull) return 0;
  return checked_integer(*value, key, rule);
}

std::optional<std::int64_t> JsonObjectReader::optional_integer(std::string_view key, const IntegerRule& rule) {
  const JsonValue* value = member(key, false);
  if (value == nullptr) return std::nullopt;
  return checked_integer(*value, key, rule);
}

std::string JsonObjectReader::checked_text(const JsonValue& value, std::string_view key) {
  if (value.kind == JsonValue::Kind::kString) return value.text;
  complain("P007", key, in_quotes(key) + " must be a string; got " + describe(value), "strings are in double quotes");
  return {};
}

std::string JsonObjectReader::text(std::string_view key) {
  const JsonValue* value = member(key, true);
  if (value == nullptr) return {};
  std::string result = checked_text(*value, key);
  if (value->kind == JsonValue::Kind::kString && result.empty()) {
    complain("P019", key, in_quotes(key) + " must not be empty", "reports print it: give it a name");
  }
  return result;
}

std::string JsonObjectReader::optional_text(std::string_view key) {
  const JsonValue* value = member(key, false);
  return value == nullptr ? std::string() : checked_text(*value, key);
}

bool JsonObjectReader::flag(std::string_view key, const char* help) {
  return member(key, true) != nullptr && optional_flag(key, help);
}

bool JsonObjectReader::optional_flag(std::string_view key, const char* help, bool otherwise) {
  const JsonValue* value = member(key, false);
  if (value == nullptr) return otherwise;
  if (value->kind == JsonValue::Kind::kBoolean) return value->text == "true";
  complain("P007", key, in_quotes(key) + " must be true or false; got " + describe(*value), help);
  return otherwise;
}

const JsonValue* JsonObjectReader::array(std::string_view key) {
  return member(key, true) == nullptr ? nullptr : optional_array(key);
}

const JsonValue* JsonObjectReader::optional_array(std::string_view key) {
  const JsonValue* value = member(key, false);
  if (value == nullptr || value->kind == JsonValue::Kind::kArray) return value;
  complain("P007", key, in_quotes(key) + " must be an array; got " + describe(*value),
           "arrays are written [item, item]");
  return nullptr;
}

bool JsonObjectReader::has_format(std::string_view key, std::string_view format, const char* help) {
  if (!is_object()) return false;
  const JsonValue* found = member(key, false);
  if (found != nullptr && found->kind == JsonValue::Kind::kString && found->text == format) return true;
  complain("P010", found == nullptr ? "" : key,
           in_quotes(key) + " must be \"" + std::string(format) + "\"; got " +
               (found == nullptr ? "none" : describe(*found)),
           help);
  return false;
}

void JsonObjectReader::finish() {
  if (!is_object()) return;
  std::size_t unknown = 0;
  for (const JsonValue& child : value_.children) {
    if (std::find(known_.begin(), known_.end(), child.key) != known_.end()) continue;
    const std::string meant = ++unknown > kMostProblems ? "" : closest_name(child.key, known_);  // not shown
    complain("P005", "", "unknown key " + in_quotes(child.key),
             meant.empty() ? described() + " lists the keys that are allowed here"
                           : "did you mean " + in_quotes(meant) + "?");
  }
}

}  // namespace debubble
