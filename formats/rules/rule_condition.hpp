// Conditions of rules, as text that people read and that is evaluated:
//
//     --recompute-granularity == full and not --recompute-method
//     CHUNKS > 1 and 0 < MICROBATCHES % GROUP and MICROBATCHES % GROUP < --pipeline-model-parallel-size
//     --optimizer outside adam,sgd
//
// --name is an argument, a NAME in capitals a value that follows from them, another word stands for itself. `or`, `and`
// and `not` bind in that order, then == != < <= > >=, `in` (one of the argument's words is in the list), `outside` (one
// is not in it) and `given` (it was typed), then + -, then * / (of whole numbers) %. What has no value makes a
// comparison false; alone, a value is true unless it is none or 0.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace debubble {

class RuleFacts {
 public:
  using Words = std::vector<std::string>;

  void set(const std::string& name, Words words) { values_.insert_or_assign(name, std::move(words)); }
  void set(const std::string& name, std::int64_t number) { set(name, Words{std::to_string(number)}); }
  void give(const std::string& name) { given_.insert(name); }

  [[nodiscard]] const Words* find(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool given(std::string_view name) const { return given_.contains(name); }

 private:
  std::map<std::string, Words, std::less<>> values_;  // a flag without a value has no words
  std::set<std::string, std::less<>> given_;
};

// Throws std::logic_error where the text is no condition.
[[nodiscard]] bool holds(std::string_view condition, const RuleFacts& facts);

// The names in a condition that have a value, with it: "--num-layers 34, GROUP 4".
[[nodiscard]] std::string values_in(std::string_view condition, const RuleFacts& facts);

}  // namespace debubble
