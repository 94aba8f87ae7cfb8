// ConfigTree: a framework's configuration by the paths of its keys, and which of them were asked for. What nobody asked
// for is named.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json/json_tree.hpp"
#include "sim/core/word_list.hpp"

namespace debubble {

// Bounds of what a configuration may say, so that products of a batch, its steps and a mesh's degrees stay whole
// numbers.
constexpr std::int64_t kMostOfConfig = std::int64_t{1} << 20;
constexpr std::int64_t kMostMeshRanks = std::int64_t{1} << 13;  // tensor, pipeline, context, expert or replica ranks

class ConfigTree {
 public:
  // Both must outlive it. What is no object is a problem (P010).
  ConfigTree(const JsonValue& root, ProblemList& problems);

  // "training.seq_len"; nullptr where it is absent or null.
  [[nodiscard]] const JsonValue* find(const std::string& path);
  [[nodiscard]] bool has(const std::string& path) { return find(path) != nullptr; }
  // P007 where it is something else, P004 below `least` or beyond `most`. A fraction without a fractional part is whole
  // (1e3).
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& path, std::int64_t least = 0,
                                                   std::int64_t most = kMostOfConfig);
  [[nodiscard]] std::optional<double> fraction(const std::string& path);
  [[nodiscard]] std::optional<std::string> word(const std::string& path);  // numbers as they are written
  [[nodiscard]] bool flag(const std::string& path, bool fallback = false);
  // Everything under that path changes neither time nor memory.
  void pass(const std::string& path) { passed_.push_back(path); }
  // Of each of the words ("seed log_level"), behind the section's path ("model.").
  void pass_words(std::string_view words, const std::string& section = "") {
    for (const std::string_view word : words_in(words)) pass(section + std::string(word));
  }
  void complain(const char* code, const std::string& path, const std::string& message, const std::string& help);

  // Paths of values that nobody asked for; null, false and empty ones are none.
  [[nodiscard]] std::vector<std::string> unasked() const;
  // Whether any path that was asked for is in the file.
  [[nodiscard]] bool found_any() const { return found_any_; }
  [[nodiscard]] ProblemList& problems() { return problems_; }
  [[nodiscard]] const JsonValue& root() const { return root_; }

 private:
  void collect(const JsonValue& value, const std::string& path, std::vector<std::string>& paths) const;

  const JsonValue& root_;
  ProblemList& problems_;
  std::set<std::string> asked_;
  bool found_any_ = false;
  std::vector<std::string> passed_;
};

}  // namespace debubble
