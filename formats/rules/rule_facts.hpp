// What the conditions of rules are about, by name: words, numbers, or that something is so.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace debubble {

struct RuleValue {
  std::vector<std::string> words;  // a flag without a value has none; a number that was counted has none either
  std::optional<double> number;

  [[nodiscard]] bool truth() const { return !number || *number != 0; }
};

// A name and its hash, which is made once for the names of a table.
struct RuleName {
  RuleName() = default;
  RuleName(const char* name) : RuleName(std::string_view(name)) {}  // NOLINT(google-explicit-constructor)
  RuleName(std::string_view name) : text(name) {                    // NOLINT(google-explicit-constructor)
    std::uint64_t ends[2] = {0, 0};
    const std::size_t most = name.size() < 8 ? name.size() : 8;
    std::memcpy(&ends[0], name.data(), most);
    std::memcpy(&ends[1], name.data() + name.size() - most, most);
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
    hash = ((ends[0] * kOdd) ^ (ends[1] + name.size())) * kOdd;
    hash ^= hash >> 32;
  }
  std::string_view text;
  std::uint64_t hash = 0;
};

// Names are kept by reference: they are a table's, or outlive the facts.
class RuleFacts {
 public:
  using Words = std::vector<std::string>;

  RuleFacts() = default;
  // What is not said here is as `under` says, which outlives it.
  explicit RuleFacts(const RuleFacts* under) : under_(under) {}

  void set(RuleName name, Words words);
  void set(RuleName name, std::int64_t number);
  void give(RuleName name);  // it was typed

  // Nothing of that name: null.
  [[nodiscard]] const RuleValue* find(const RuleName& name) const;
  [[nodiscard]] bool given(const RuleName& name) const;
  // Said here, not by what lies under it.
  [[nodiscard]] bool has_own(const RuleName& name) const { return entry(name) != nullptr; }
  // Of its first word, or the number itself; from 0 on.
  [[nodiscard]] std::optional<std::int64_t> count(const RuleName& name) const;

 private:
  struct Entry {
    RuleName name;
    RuleValue value;
    bool known = false;
    bool given = false;
  };
  [[nodiscard]] const Entry* entry(const RuleName& name) const;
  Entry& own(const RuleName& name);
  void place(std::size_t number);

  const RuleFacts* under_ = nullptr;
  std::vector<Entry> entries_;
  std::vector<std::uint16_t> places_;  // by hash: 1 + the entry's; 0: none. A power of two, at most half full
};

}  // namespace debubble
