#include "formats/megatron/arguments.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "formats/megatron/argument_table.hpp"

namespace debubble {
namespace {

// A negative number is a value.
bool is_name(const std::string& word) {
  return word.size() > 2 && word.starts_with("--") && std::isalpha(static_cast<unsigned char>(word[2])) != 0;
}

}  // namespace

MegatronArguments::MegatronArguments(const std::vector<std::string>& words) {
  std::vector<std::string>* values = nullptr;
  for (const std::string& word : words) {
    if (!is_name(word)) {
      if (values != nullptr) values->push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::replace(name.begin(), name.end(), '_', '-');
    const std::string today = todays_name(name);
    if (today != name) renamed_[today] = name;
    values = &values_[today];
    values->clear();
    if (equals != std::string::npos) values->push_back(word.substr(equals + 1));
  }
}

bool MegatronArguments::flag(const std::string& name) {
  asked_.insert(name);
  return values_.contains(name);
}

std::optional<std::string> MegatronArguments::word(const std::string& name) {
  asked_.insert(name);
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  if (found->second.empty()) {
    find("--" + name + " has no value and is left out");
    return std::nullopt;
  }
  return found->second.front();
}

std::vector<std::string> MegatronArguments::words(const std::string& name) {
  (void)word(name);  // which says where there is none
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

std::optional<double> MegatronArguments::fraction(const std::string& name) {
  const std::optional<std::string> text = word(name);
  if (!text) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc{} && end == text->data() + text->size()) return value;
  find("--" + name + " is \"" + *text + "\", which is not a number: left out" +
       (text->starts_with("$") ? "; the script does not set that variable" : ""));
  return std::nullopt;
}

std::optional<std::int64_t> MegatronArguments::number(const std::string& name) {
  const std::optional<std::string> text = word(name);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  constexpr std::int64_t kLargest = std::int64_t{1} << 31;
  if (error == std::errc{} && end == text->data() + text->size() && value >= 0 && value <= kLargest) return value;
  find("--" + name + " is \"" + *text + "\", which is not a whole number: left out" +
       (text->starts_with("$") ? "; the script does not set that variable" : ""));
  return std::nullopt;
}

std::optional<std::int64_t> MegatronArguments::count(const std::string& name) {
  const std::optional<std::int64_t> value = number(name);
  if (value != 0) return value;
  find("--" + name + " is 0, and at least 1 is needed: left out");
  return std::nullopt;
}

std::vector<std::string> MegatronArguments::findings() const {
  std::vector<std::string> findings = findings_;
  std::map<std::string, std::string> named;  // by what is not modelled
  std::string unknown;
  for (const auto& [name, values] : values_) {
    if (asked_.contains(name)) continue;
    const auto row = megatron_argument(name);
    if (row && row->effect != ArgumentEffect::kNamed) continue;
    std::string text = "--" + name;
    for (const std::string& value : values) text += " " + value;
    if (row) {
      std::string& list = named[std::string(row->reason)];
      list += (list.empty() ? "" : ", ") + text;
      continue;
    }
    const std::string meant = nearest_argument(name);
    if (!meant.empty()) text += " (is --" + meant + " meant?)";
    unknown += (unknown.empty() ? "" : ", ") + text;
  }
  for (const auto& [reason, list] : named) findings.push_back(list + ": not modelled (" + reason + ")");
  if (!unknown.empty()) findings.push_back(unknown + ": not known; left out, and may change time or memory");
  return findings;
}

}  // namespace debubble
