#include "formats/megatron/arguments.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "formats/megatron/argument_table.hpp"
#include "formats/megatron/defaults.hpp"
#include "formats/megatron/size_names.hpp"
#include "formats/text/printable.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

// A negative number is a value.
bool is_name(const std::string& word) {
  return word.size() > 2 && word.starts_with("--") && std::isalpha(static_cast<unsigned char>(word[2])) != 0;
}

// What is named changes nothing at its default.
bool at_default(const std::string& name, const std::vector<std::string>& values) {
  constexpr std::array<std::string_view, 3> kZeros{"empty-unused-memory-level", "vocab-extra-ids",
                                                   "biencoder-projection-dim"};
  return values == std::vector<std::string>{"0"} && std::find(kZeros.begin(), kZeros.end(), name) != kZeros.end();
}

// Python's 1_024: one between two digits.
std::string without_underscores(const std::string& text) {
  const auto digit = [&text](std::size_t k) { return std::isdigit(static_cast<unsigned char>(text[k])) != 0; };
  std::string plain;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const bool between = text[k] == '_' && k > 0 && k + 1 < text.size() && digit(k - 1) && digit(k + 1);
    if (!between) plain += text[k];
  }
  return plain;
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

void MegatronArguments::refuse(const std::string& problem) const {
  if (refuse_at_.empty()) return;
  fail("P030", printable(refuse_at_), printable(problem),
       "give the script what it needs: --args for its arguments, --set NAME=VALUE for its environment");
}

void MegatronArguments::refuse_without_value() const {
  for (const auto& [name, values] : values_) {
    const auto row = megatron_argument(name);
    const bool needs = row && row->effect == ArgumentEffect::kUsed && row->values == ArgumentValues::kOne;
    if (needs && values.empty()) refuse("--" + name + " has no value");
  }
}

void MegatronArguments::refuse_unknown_sizes(const std::string& place) const {
  std::vector<Diagnostic> problems;
  for (const auto& [name, values] : values_) {
    if (!is_size_name(name) || asked_.contains(name) || megatron_argument(name)) continue;
    if (values.empty() || values.front() == "1") continue;  // which changes nothing
    problems.push_back(
        {"F033", printable(place),
         "--" + printable(name) + " " + printable(values.front()) + " is not known, and may be what the run depends on",
         "write the arguments with --arguments-only -o args.txt, say there what it means by known names, "
         "and import that file"});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
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
    left_out("--" + name + " has no value");
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
  if (const std::optional<double> value = number_of(*text)) return value;
  left_out("--" + name + " is \"" + *text + "\", which is not a number");
  return std::nullopt;
}

std::string MegatronArguments::word_or_default(const std::string& name) {
  return word(name).value_or(megatron_default(name));
}

std::int64_t MegatronArguments::number_or_default(const std::string& name) {
  return number(name).value_or(count_of(megatron_default(name)).value());
}

std::int64_t MegatronArguments::count_or_default(const std::string& name) {
  return count(name).value_or(count_of(megatron_default(name)).value());
}

double MegatronArguments::fraction_or_default(const std::string& name) {
  return fraction(name).value_or(number_of(megatron_default(name)).value());
}

std::optional<std::int64_t> MegatronArguments::number(const std::string& name) {
  const std::optional<std::string> text = word(name);
  if (!text) return std::nullopt;
  if (const auto value = count_of(without_underscores(*text), std::int64_t{1} << 31)) return value;
  left_out("--" + name + " is \"" + *text + "\", which is not a whole number");
  return std::nullopt;
}

std::optional<std::int64_t> MegatronArguments::count(const std::string& name) {
  const std::optional<std::int64_t> value = number(name);
  if (value != 0) return value;
  left_out("--" + name + " is 0, and at least 1 is needed");
  return std::nullopt;
}

std::vector<std::string> MegatronArguments::findings() const {
  std::vector<std::string> findings = findings_;
  std::map<std::string, std::string> named;  // by what is not modelled
  std::string unknown;
  for (const auto& [name, values] : values_) {
    if (asked_.contains(name)) continue;
    const auto row = megatron_argument(name);
    if (row && (row->effect != ArgumentEffect::kNamed || at_default(name, values))) continue;
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
