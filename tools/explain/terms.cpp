#include "tools/explain/terms.hpp"

#include <algorithm>

#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/explain/reference_pages.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

std::string as_looked_up(std::string_view word) {
  std::string text;
  for (const char c : word) {
    if (c == '/' && text.ends_with(' ')) text.pop_back();
    const bool blank = c == '-' || c == '_' || c == ' ';
    if (!blank || !text.ends_with('/')) text += blank ? ' ' : lower_case(c);
  }
  return text;
}

// "peak GiB", "step ms": headings that name a unit.
std::string_view without_unit(std::string_view word) {
  const std::size_t blank = word.rfind(' ');
  if (blank == std::string_view::npos) return word;
  const std::string_view unit = word.substr(blank + 1);
  return unit_factor(unit) || unit == "msgs" ? word.substr(0, blank) : word;
}

}  // namespace

std::span<const Term> terms() {
  static const std::vector<Term> rows = [] {
    std::vector<Term> all;
    for (const PageRow& row : page_rows(words_page())) {
      all.push_back({row.cells[0], row.cells[1], row.cells[2], row.cells[3], row.cells[4]});
    }
    return all;
  }();
  return rows;
}

std::vector<std::string> aliases_of(const Term& term) {
  std::vector<std::string> names;
  for (std::string_view rest = term.aliases; !rest.empty();) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return names;
}

const Term* find_term(std::string_view word) {
  const std::string wanted = as_looked_up(word);
  const auto named = [&](const std::string& name) { return as_looked_up(name) == wanted; };
  for (const Term& term : terms()) {
    const std::vector<std::string> aliases = aliases_of(term);
    if (named(term.name) || std::any_of(aliases.begin(), aliases.end(), named)) return &term;
  }
  const std::string_view plain = without_unit(word);
  return plain.size() < word.size() ? find_term(plain) : nullptr;
}

std::vector<std::string> term_names() {
  std::vector<std::string> names;
  for (const Term& term : terms()) {
    names.emplace_back(term.name);
    for (std::string& alias : aliases_of(term)) names.push_back(std::move(alias));
  }
  return names;
}

std::string term_text(const Term& term, const ViewStyle& style) {
  Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  const auto add = [&](const char* label, std::string_view text) {
    if (!text.empty()) table.add_row({label, std::string(text)});
  };
  add("means", term.meaning);
  add("formula", term.formula);
  add("also", term.aliases);
  add("see", term.see);
  return paint(style.color, kBold, term.name) + "\n" + table.text(static_cast<std::size_t>(style.width), 2);
}

}  // namespace debubble
