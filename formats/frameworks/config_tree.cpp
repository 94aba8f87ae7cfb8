#include "formats/frameworks/config_tree.hpp"

#include <algorithm>
#include <cmath>

#include "formats/text/text.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

std::string pointer_of(std::string path) {
  std::replace(path.begin(), path.end(), '.', '/');
  return "/" + path;
}

}  // namespace

ConfigTree::ConfigTree(const JsonValue& root, ProblemList& problems) : root_(root), problems_(problems) {
  if (root.kind == JsonValue::Kind::kObject) return;
  problems.add("P010", problems.name(), "a configuration is an object of keys; got " + describe(root),
               "give the file that the framework is started with");
}

const JsonValue* ConfigTree::find(const std::string& path) {
  asked_.insert(path);
  const JsonValue* at = &root_;
  std::size_t begin = 0;
  while (at != nullptr && begin <= path.size()) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view key = std::string_view(path).substr(begin, end - begin);
    const JsonValue* next = nullptr;
    for (const JsonValue& member : at->children) {
      if (at->kind == JsonValue::Kind::kObject && member.key == key) next = &member;
    }
    at = next;
    begin = end + 1;
  }
  found_any_ = found_any_ || at != nullptr;
  return at == nullptr || at->kind == JsonValue::Kind::kNull ? nullptr : at;
}

void ConfigTree::complain(const char* code, const std::string& path, const std::string& message,
                          const std::string& help) {
  problems_.add_at_pointer(code, pointer_of(path), message, help);
}

std::optional<std::int64_t> ConfigTree::number(const std::string& path, std::int64_t least, std::int64_t most) {
  const JsonValue* value = find(path);
  if (value == nullptr) return std::nullopt;
  std::optional<std::int64_t> whole;
  if (value->kind == JsonValue::Kind::kInteger) whole = value->integer;
  if (value->kind == JsonValue::Kind::kFraction) {
    const double real = number_of(value->text).value_or(0.5);
    if (real == std::floor(real) && std::abs(real) < 1e12) whole = static_cast<std::int64_t>(real);
  }
  if (whole && *whole >= least && *whole <= most) return whole;
  const std::string range = std::to_string(least) + (whole && *whole > most ? " to " + std::to_string(most) : " on");
  complain(whole ? "P004" : "P007", path,
           in_quotes(path) + " must be a whole number from " + range + "; got " + describe(*value),
           "write the number itself");
  return std::nullopt;
}

std::optional<double> ConfigTree::fraction(const std::string& path) {
  const JsonValue* value = find(path);
  if (value == nullptr) return std::nullopt;
  const std::optional<double> number = number_of(*value);
  if (!number) {
    complain("P007", path, in_quotes(path) + " must be a number; got " + describe(*value), "write the number itself");
  }
  return number;
}

std::optional<std::string> ConfigTree::word(const std::string& path) {
  const JsonValue* value = find(path);
  if (value == nullptr) return std::nullopt;
  if (value->kind != JsonValue::Kind::kArray && value->kind != JsonValue::Kind::kObject) return value->text;
  complain("P007", path, in_quotes(path) + " must be a word; got " + describe(*value), "write the word itself");
  return std::nullopt;
}

bool ConfigTree::flag(const std::string& path, bool fallback) {
  const JsonValue* value = find(path);
  if (value == nullptr) return fallback;
  if (value->kind == JsonValue::Kind::kBoolean) return value->text == "true";
  complain("P007", path, in_quotes(path) + " must be true or false; got " + describe(*value), "without quotes");
  return fallback;
}

void ConfigTree::collect(const JsonValue& value, const std::string& path, std::vector<std::string>& paths) const {
  const auto covers = [&](const std::string& passed) { return path == passed || path.starts_with(passed + "."); };
  if (asked_.contains(path) || std::any_of(passed_.begin(), passed_.end(), covers)) {
    if (value.kind != JsonValue::Kind::kObject || std::any_of(passed_.begin(), passed_.end(), covers)) return;
  }
  if (value.kind == JsonValue::Kind::kObject) {
    for (const JsonValue& member : value.children)
      collect(member, path.empty() ? member.key : path + "." + member.key, paths);
    return;
  }
  const bool nothing = value.kind == JsonValue::Kind::kNull || value.text == "false" ||
                       (value.kind == JsonValue::Kind::kArray && value.children.empty());
  if (!nothing) paths.push_back(path);
}

std::vector<std::string> ConfigTree::unasked() const {
  std::vector<std::string> paths;
  collect(root_, "", paths);
  return paths;
}

}  // namespace debubble
