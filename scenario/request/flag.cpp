#include "scenario/request/flag.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

#include "formats/text/choice.hpp"
#include "formats/text/shell.hpp"

namespace debubble {

namespace {

// Reads numbers as the command line does: 0x10 and 010 are hexadecimal and octal. Nothing for what does not fit.
std::optional<std::int64_t> number_as_typed(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const std::int64_t number = std::strtoll(text.c_str(), &end, 0);
  if (text.empty() || errno == ERANGE || end != text.c_str() + text.size()) return std::nullopt;
  return number;
}

bool fits_int(std::int64_t number) {
  return number >= std::numeric_limits<int>::min() && number <= std::numeric_limits<int>::max();
}

// Writes a value to the target that a flag has.
class Setter {
 public:
  Setter(const std::string& value, FlagCount count) : value_(value), count_(count) {}

  bool operator()(std::string* target) const {
    *target = value_;
    return true;
  }
  bool operator()(bool* target) const {
    *target = true;
    return true;
  }
  bool operator()(std::vector<std::string>* target) const {
    if (count_ == FlagCount::kLast) target->clear();
    target->push_back(value_);
    return true;
  }
  bool operator()(std::optional<std::int64_t>* target) const {
    const std::optional<std::int64_t> number = number_as_typed(value_);
    if (number) *target = number;
    return number.has_value();
  }
  template <typename Int>
  bool operator()(Int* target) const {
    const std::optional<std::int64_t> number = number_as_typed(value_);
    if (!number || !fits_int(*number)) return false;
    *target = static_cast<int>(*number);
    return true;
  }

 private:
  const std::string& value_;
  FlagCount count_;
};

struct Getter {
  std::vector<std::string> operator()(const std::string* target) const { return {*target}; }
  std::vector<std::string> operator()(const bool* target) const {
    return *target ? std::vector<std::string>{"true"} : std::vector<std::string>{};
  }
  std::vector<std::string> operator()(const std::vector<std::string>* target) const { return *target; }
  std::vector<std::string> operator()(const int* target) const { return {std::to_string(*target)}; }
  template <typename Number>
  std::vector<std::string> operator()(const std::optional<Number>* target) const {
    return *target ? std::vector{std::to_string(**target)} : std::vector<std::string>{};
  }
};

// How a quantity is shown in a help, and how it may be written.
struct UnitRow {
  std::string_view type;
  std::string_view spelled;
};

UnitRow unit_row(FlagUnit unit) {
  switch (unit) {
    case FlagUnit::kNone:
      return {};
    case FlagUnit::kDuration:
      return {"TIME", "ns|us|ms|s|min|h"};
    case FlagUnit::kSize:
      return {"SIZE", "B|kB|MB|GB|TB|KiB|MiB|GiB|TiB"};
    case FlagUnit::kBandwidth:
      return {"RATE", "B/s|kB/s|MB/s|GB/s|TB/s|KiB/s|MiB/s|GiB/s|TiB/s|kbit/s|Mbit/s|Gbit/s|Tbit/s|Gbps"};
    case FlagUnit::kSeconds:
      return {"SECONDS", "whole seconds"};
    case FlagUnit::kShare:
      return {"SHARE", "1 = 100 %"};
    case FlagUnit::kFactor:
      return {"X", "1 = as it is"};
  }
  return {};
}

// Letters in one case, without what joins words.
std::string folded(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c != '-' && c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

// Writes the word or name that is meant in place of one in other letters. What follows a colon is a name's own matter.
void settle_value(const Flag& flag, std::string& value) {
  if (value.empty() || (flag.names == nullptr && flag.words.empty())) return;
  const std::size_t end = flag.names == nullptr ? value.size() : std::min(value.find(':'), value.size());
  const std::string head = value.substr(0, end);
  const std::vector<std::string> known = completions_of(flag);
  if (std::find(known.begin(), known.end(), head) != known.end()) return;
  const std::string* meant = nullptr;
  for (const std::string& name : known) {
    if (folded(name) != folded(head)) continue;
    if (meant != nullptr) return;  // nobody can know which
    meant = &name;
  }
  if (meant != nullptr) value.replace(0, end, *meant);
}

struct SpellingSettler {
  const Flag& flag;

  void operator()(std::string* target) const { settle_value(flag, *target); }
  void operator()(std::vector<std::string>* target) const {
    for (std::string& value : *target) settle_value(flag, value);
  }
  template <typename Other>
  void operator()(Other* /*target*/) const {}
};

bool is_given_by(std::span<const Flag> rows, std::string_view name) {
  const Flag* flag = find_flag(rows, name);
  return flag != nullptr && is_given(*flag);
}

bool has_unmet_need(std::span<const Flag> rows, const Flag& flag) {
  const std::vector<std::string_view>& others = flag.needs.others;
  return !others.empty() && is_given(flag) &&
         std::none_of(others.begin(), others.end(), [&](std::string_view other) { return is_given_by(rows, other); });
}

}  // namespace

bool is_positional(const Flag& flag) { return !flag.name.starts_with("-"); }

bool is_switch(const Flag& flag) { return std::holds_alternative<bool*>(flag.target); }

bool takes_list(const Flag& flag) {
  return flag.count != FlagCount::kLast && std::holds_alternative<std::vector<std::string>*>(flag.target);
}

std::string_view type_of(const Flag& flag) {
  if (!flag.type.empty()) return flag.type;
  return flag.unit == FlagUnit::kNone ? flag.words : unit_row(flag.unit).type;
}

std::string_view unit_of(const Flag& flag) { return unit_row(flag.unit).spelled; }

std::vector<std::string> completions_of(const Flag& flag) {
  if (flag.names != nullptr) return flag.names();
  return flag.words.empty() ? std::vector<std::string>{} : split_names(flag.words);
}

std::vector<std::string_view> aliases_of(const Flag& flag) {
  std::vector<std::string_view> names;
  for (std::string_view rest = flag.alias; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    names.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

std::vector<std::string_view> names_of(const Flag& flag) {
  std::vector<std::string_view> names;
  if (!flag.short_name.empty()) names.push_back(flag.short_name);
  names.push_back(flag.name);
  const std::vector<std::string_view> others = aliases_of(flag);
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

std::string_view key_of(const Flag& flag) {
  return is_positional(flag) ? flag.name : flag.name.substr(std::string_view("--").size());
}

std::string help_of(const Flag& flag) {
  std::string text(flag.help);
  if (!flag.default_text.empty()) text.append(" (default: ").append(flag.default_text).append(")");
  return text;
}

void add_rows(FlagRows& rows, FlagRows more) {
  rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

const Flag* find_flag(std::span<const Flag> rows, std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Flag& flag) {
    if (flag.name == name) return true;
    if (flag.alias.find(name) == std::string_view::npos) return false;  // rows are looked through thousands of times
    const std::vector<std::string_view> others = aliases_of(flag);
    return std::find(others.begin(), others.end(), name) != others.end();
  });
  return found == rows.end() ? nullptr : &*found;
}

std::vector<std::string> flag_keys(std::span<const Flag> rows) {
  std::vector<std::string> keys;
  for (const Flag& flag : rows) {
    if (is_positional(flag)) continue;
    keys.emplace_back(key_of(flag));
    for (const std::string_view other : aliases_of(flag)) {
      keys.emplace_back(other.substr(std::string_view("--").size()));
    }
  }
  return keys;
}

std::vector<std::string> values_of(const Flag& flag) {
  std::vector<std::string> values = std::visit(Getter{}, flag.target);
  if (values.size() == 1 && (values.front().empty() || values.front() == flag.preset)) values.clear();
  return values;
}

bool is_given(const Flag& flag) { return !values_of(flag).empty(); }

std::size_t word_index(const Flag& flag) {
  const std::vector<std::string> values = std::visit(Getter{}, flag.target);
  return values.size() != 1 || values.front().empty() ? 0 : choice_of(values.front(), flag.words, flag.name);
}

std::size_t word_index(std::span<const Flag> rows, std::string_view name) {
  const Flag* flag = find_flag(rows, name);
  if (flag == nullptr) throw std::invalid_argument("not a flag: " + std::string(name));
  return word_index(*flag);
}

std::vector<Diagnostic> unknown_words(std::span<const Flag> rows) {
  std::vector<Diagnostic> found;
  for (const Flag& flag : rows) {
    if (flag.words.empty()) continue;
    try {
      (void)word_index(flag);
    } catch (const InputError& error) {
      found.insert(found.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  return found;
}

bool set_flag(const Flag& flag, const std::string& value) {
  const bool set = std::visit(Setter(value, flag.count), flag.target);
  std::visit(SpellingSettler{flag}, flag.target);
  return set;
}

void settle_spelling(std::span<const Flag> rows) {
  for (const Flag& flag : rows) std::visit(SpellingSettler{flag}, flag.target);
}

void set_flags(std::span<const Flag> rows, std::span<const std::string> arguments) {
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    const Flag* flag = find_flag(rows, std::string_view(argument).substr(0, equals));
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (flag == nullptr || !set_flag(*flag, value)) throw std::invalid_argument("not a flag: " + argument);
  }
}

std::string flag_line(std::span<const Flag> rows) {
  FlagLine line;
  for (const Flag& flag : rows) {
    if (!flag.repeated) continue;
    if (is_switch(flag)) {
      line.add_switch(flag.name, is_given(flag));
      continue;
    }
    for (const std::string& value : values_of(flag)) line.add(flag.name, value);
  }
  return line.text();
}

void refuse_excluded(std::span<const Flag> rows) {
  for (const Flag& flag : rows) {
    if (flag.excludes.others.empty() || !is_given(flag)) continue;
    for (const std::string_view other : flag.excludes.others) {
      if (!is_given_by(rows, other)) continue;
      std::string message(flag.name);
      message.append(" and ").append(other).append(" ").append(flag.excludes.message);
      throw InputError(Diagnostic{flag.excludes.code, std::string(flag.name), std::move(message), flag.excludes.help});
    }
  }
}

std::vector<Diagnostic> unmet_needs(std::span<const Flag> rows) {
  std::vector<Diagnostic> found;
  for (const Flag& flag : rows) {
    if (!has_unmet_need(rows, flag)) continue;
    found.push_back({flag.needs.code, std::string(flag.name), flag.needs.message, flag.needs.help});
  }
  return found;
}

}  // namespace debubble
