// ConfigReader: the members of a Hugging Face config.json, by name. A member that is null counts as absent, as it does
// there. Problems are collected; a reader goes on with a harmless value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"

namespace debubble {

// With which a config.json is parsed.
[[nodiscard]] const JsonDialect& config_dialect();

class ConfigReader {
 public:
  // Both must outlive the reader; the value must be an object. `prefix`: where it lies in its file, "/text_config".
  ConfigReader(const JsonValue& object, ProblemList& problems, std::string prefix = {})
      : object_(object), problems_(problems), prefix_(std::move(prefix)) {}

  // nullptr when it is absent or null.
  [[nodiscard]] const JsonValue* find(std::string_view key);

  // From 1 to 2^24; P006 when it is absent without a fallback, P007 when it is something else.
  [[nodiscard]] std::int64_t size(std::string_view key, std::optional<std::int64_t> fallback = std::nullopt);
  [[nodiscard]] bool flag(std::string_view key, bool fallback);
  [[nodiscard]] std::string word(std::string_view key, const std::string& fallback);
  [[nodiscard]] double positive(std::string_view key, double fallback);

  // W012 unless the flag is as the workload computes.
  void insist(std::string_view key, bool expected, bool fallback, const std::string& meaning);
  // The same for a member that must be absent (or null, or empty).
  void refuse(std::string_view key, const std::string& meaning);
  void complain(const char* code, std::string_view key, const std::string& message, const std::string& help);

  // Every member that nobody asked for and that is not known to be irrelevant to the computation.
  [[nodiscard]] std::vector<std::string> unknown_keys() const;
  // Names them (P005).
  void finish();

 private:
  const JsonValue& object_;
  ProblemList& problems_;
  std::string prefix_;
  std::vector<std::string> known_;
};

}  // namespace debubble
