#include "formats/rules/rule_facts.hpp"

#include <utility>

#include "sim/core/numbers.hpp"

namespace debubble {

const RuleFacts::Entry* RuleFacts::entry(const RuleName& name) const {
  if (places_.empty()) return nullptr;
  const std::size_t mask = places_.size() - 1;
  for (std::size_t at = name.hash & mask; places_[at] != 0; at = (at + 1) & mask) {
    const Entry& one = entries_[places_[at] - std::size_t{1}];
    if (one.name.hash == name.hash && one.name.text == name.text) return &one;
  }
  return nullptr;
}

RuleFacts::Entry& RuleFacts::own(const RuleName& name) {
  if (const Entry* found = entry(name); found != nullptr)
    return entries_[static_cast<std::size_t>(found - entries_.data())];
  if (2 * (entries_.size() + 1) > places_.size()) {
    places_.assign(places_.empty() ? 128 : 2 * places_.size(), 0);
    entries_.reserve(places_.size() / 2);
    for (std::size_t k = 0; k < entries_.size(); ++k) place(k);
  }
  entries_.push_back({name, {}, false, false});
  place(entries_.size() - 1);
  return entries_.back();
}

void RuleFacts::place(std::size_t number) {
  const std::size_t mask = places_.size() - 1;
  std::size_t at = entries_[number].name.hash & mask;
  while (places_[at] != 0) at = (at + 1) & mask;
  places_[at] = static_cast<std::uint16_t>(number + 1);
}

void RuleFacts::set(RuleName name, Words words) {
  Entry& one = own(name);
  one.known = true;
  one.value.number = words.size() == 1 ? number_of(words.front()) : std::nullopt;
  one.value.words = std::move(words);
}

void RuleFacts::set(RuleName name, std::int64_t number) {
  Entry& one = own(name);
  one.known = true;
  one.value.number = static_cast<double>(number);
  one.value.words.clear();
}

void RuleFacts::give(RuleName name) { own(name).given = true; }

const RuleValue* RuleFacts::find(const RuleName& name) const {
  const Entry* found = entry(name);
  if (found != nullptr && found->known) return &found->value;
  return under_ == nullptr ? nullptr : under_->find(name);
}

bool RuleFacts::given(const RuleName& name) const {
  const Entry* found = entry(name);
  return (found != nullptr && found->given) || (under_ != nullptr && under_->given(name));
}

std::optional<std::int64_t> RuleFacts::count(const RuleName& name) const {
  const RuleValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (!value->words.empty()) return count_of(value->words.front(), kMost);
  if (!value->number || *value->number < 0) return std::nullopt;
  return static_cast<std::int64_t>(*value->number);
}

}  // namespace debubble
