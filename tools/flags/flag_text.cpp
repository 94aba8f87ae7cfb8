#include "tools/flags/flag_text.hpp"

#include <utility>
#include <vector>

#include "scenario/check_scenario.hpp"
#include "sim/core/error.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/flags/config_file.hpp"

namespace debubble {

namespace {

// As a POSIX shell splits words, without its variables and patterns.
std::vector<std::string> flag_words(const std::string& text, const std::string& place) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;  // a word has begun, though it may be empty: ''
  char quote = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    const bool escapes = c == '\\' && quote != '\'' && k + 1 < text.size();
    if (escapes) {
      word += text[++k];
      open = true;
    } else if (quote != 0 ? c == quote : c == '\'' || c == '"') {
      quote = quote == 0 ? c : '\0';
      open = true;
    } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (quote != 0) fail("C061", place, "a quote is not closed: " + text, "close it, or leave it out");
  if (open) words.push_back(std::move(word));
  return words;
}

void take_over(const Flag& from, const Flag& to) {
  const std::vector<std::string> values = values_of(from);
  if (values.empty()) return;
  if (auto* const* list = std::get_if<std::vector<std::string>*>(&to.target)) (*list)->clear();
  for (const std::string& value : values) (void)set_flag(to, value);
}

}  // namespace

ScenarioFlags overridden(const ScenarioFlags& base, const ScenarioFlags& over) {
  ScenarioFlags result = base;
  ScenarioFlags read = over;
  const FlagRows to = flag_rows(result);
  const FlagRows from = flag_rows(read);
  for (std::size_t k = 0; k < from.size(); ++k) take_over(from[k], to[k]);
  return result;
}

ScenarioFlags with_flags(const ScenarioFlags& base, const std::string& text, const std::string& place) {
  if (text == "-" || (text.ends_with(".toml") && !text.starts_with("-"))) return read_scenario_file(text);
  const std::vector<std::string> words = flag_words(text, place);
  if (words.empty()) fail("C061", place, "no flag follows", "write it like " + place + " '--recompute full --tp 4'");
  ScenarioFlags own;
  parse_written_flags(flag_rows(own), words, "C061", place);
  ScenarioFlags result = overridden(base, own);
  // The two ways to say how many microbatches there are: the newer one counts.
  if (own.global_batch) result.microbatches.reset();
  if (own.microbatches) result.global_batch.reset();
  return result;
}

}  // namespace debubble
