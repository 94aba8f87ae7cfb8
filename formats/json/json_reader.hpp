// JsonObjectReader: reads the members of one JSON object strictly, by name, and reports what is missing, mistyped, out
// of range or unknown.
//
//     JsonObjectReader reader(value, "/layers/3", problems);
//     layer.output = reader.integer("output_bytes", kSize);   // required
//     layer.workspace = reader.optional_integer("workspace_bytes", kSize).value_or(0);
//     reader.finish();                                         // everything not asked for is an unknown key
//
// A reader never throws: it records a problem, returns a harmless value and reads on, so that one pass finds all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"

namespace debubble {

// What a whole number counts and how large it may be; `help` shows how to write one.
struct IntegerRule {
  const char* unit;  // "nanoseconds"
  std::int64_t least;
  std::int64_t most;
  const char* help;
};

class JsonObjectReader {
 public:
  // `value` and `problems` must outlive the reader. A value that is no object is reported once (wrong_type).
  JsonObjectReader(const JsonValue& value, std::string pointer, ProblemList& problems);

  [[nodiscard]] std::int64_t integer(std::string_view key, const IntegerRule& rule);
  [[nodiscard]] std::int64_t integer_or_null(std::string_view key, const IntegerRule& rule);  // required; null is 0
  [[nodiscard]] std::optional<std::int64_t> optional_integer(std::string_view key, const IntegerRule& rule);
  [[nodiscard]] std::string text(std::string_view key);  // required, not empty
  [[nodiscard]] std::string optional_text(std::string_view key);
  // True or false; `help` says how to write it. A missing or wrong one is reported and false, of optional_flag
  // `otherwise`.
  [[nodiscard]] bool flag(std::string_view key, const char* help);
  [[nodiscard]] bool optional_flag(std::string_view key, const char* help, bool otherwise = false);
  [[nodiscard]] const JsonValue* array(std::string_view key);  // required; nullptr when it is missing or no array
  [[nodiscard]] const JsonValue* optional_array(std::string_view key);
  // The member whatever its type, nullptr when it is absent; a missing required member is reported.
  [[nodiscard]] const JsonValue* member(std::string_view key, bool required);

  // Whether the member `key` names this format and version; reports where not. Nothing else in such a file would mean
  // anything.
  [[nodiscard]] bool has_format(std::string_view key, std::string_view format, const char* help);

  // Reports every member that was never asked for, with the closest name that was.
  void finish();

  [[nodiscard]] bool is_object() const { return value_.kind == JsonValue::Kind::kObject; }
  [[nodiscard]] const std::string& pointer() const { return pointer_; }
  [[nodiscard]] std::string pointer_to(std::string_view key) const { return pointer_ + "/" + std::string(key); }
  // Reports a problem of the member `key`; of the object itself when `key` is empty.
  void complain(std::string code, std::string_view key, std::string message, std::string help);

 private:
  [[nodiscard]] const JsonDialect& dialect() const { return problems_.dialect(); }
  [[nodiscard]] std::string described() const { return dialect().description; }
  [[nodiscard]] std::int64_t checked_integer(const JsonValue& value, std::string_view key, const IntegerRule& rule);
  [[nodiscard]] std::string checked_text(const JsonValue& value, std::string_view key);

  const JsonValue& value_;
  std::string pointer_;
  ProblemList& problems_;
  std::vector<std::string> known_;
};

}  // namespace debubble
