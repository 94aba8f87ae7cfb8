// Megatron-LM's arguments by name, and which of them were asked for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace debubble {

class MegatronArguments {
 public:
  // "--name value", "--name=value", "--flag"; a name that comes again replaces the first.
  explicit MegatronArguments(const std::vector<std::string>& words);

  [[nodiscard]] bool empty() const { return values_.empty(); }
  // All that was given, by today's names, asked for or not.
  [[nodiscard]] const std::map<std::string, std::vector<std::string>>& values() const { return values_; }
  [[nodiscard]] bool has_older_names() const { return !renamed_.empty(); }
  [[nodiscard]] bool flag(const std::string& name);
  [[nodiscard]] std::optional<std::string> word(const std::string& name);
  // All words after the name.
  [[nodiscard]] std::vector<std::string> words(const std::string& name);
  // Nothing, and a finding, where it is not a whole number.
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& name);
  // The same of what must be at least 1: ranks, samples.
  [[nodiscard]] std::optional<std::int64_t> count(const std::string& name);
  [[nodiscard]] std::optional<double> fraction(const std::string& name);

  // The same, or what Megatron-LM takes where it is not given (formats/megatron/defaults.hpp).
  [[nodiscard]] std::string word_or_default(const std::string& name);
  [[nodiscard]] std::int64_t number_or_default(const std::string& name);
  [[nodiscard]] std::int64_t count_or_default(const std::string& name);
  [[nodiscard]] double fraction_or_default(const std::string& name);

  // Was it given by that older name?
  [[nodiscard]] bool by_name(const std::string& name, const std::string& old_name) const {
    const auto found = renamed_.find(name);
    return found != renamed_.end() && found->second == old_name;
  }
  void set(const std::string& name, const std::string& value) { values_[name] = {value}; }

  // Of a script: what has no value or none that can be read is refused there, not left out.
  void refuse_at(std::string place) { refuse_at_ = std::move(place); }
  void refuse_without_value() const;
  // Throws InputError F033 for names that are not known and end like a parallel size, batch, sequence or number of
  // layers.
  void refuse_unknown_sizes(const std::string& place) const;

  // What was found that somebody should know, arguments that nobody asked for among it.
  void find(std::string text) { findings_.push_back(std::move(text)); }
  [[nodiscard]] std::vector<std::string> findings() const;
  // The same without the arguments that nobody asked for.
  [[nodiscard]] const std::vector<std::string>& found() const { return findings_; }

 private:
  std::map<std::string, std::vector<std::string>> values_;  // by name without dashes
  std::map<std::string, std::string> renamed_;              // which of them were given by an older name
  std::set<std::string> asked_;
  std::vector<std::string> findings_;
  std::string refuse_at_;

  void left_out(const std::string& problem) {
    refuse(problem);
    find(problem + ": left out");
  }
  void refuse(const std::string& problem) const;
};

}  // namespace debubble
