#include <string_view>
#include <vector>

#include "tools/reference/completions.hpp"

namespace debubble {

namespace {

std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char character : text) {
    if (character == '\'' || character == '\\') result += '\\';
    result += character;
  }
  return result + "'";
}

// Of a flag's value: nothing but its words, a path, or anything.
std::string fish_value(const Flag& flag) {
  if (is_switch(flag)) return " -f";
  const std::vector<std::string> values = completions_of(flag);
  if (!values.empty()) return (takes_path(flag) ? " -r -F -a " : " -x -a ") + fish_quoted(joined_words(values));
  return takes_path(flag) ? " -r -F" : " -x";
}

std::string fish_line(std::string_view verb, const Flag& flag) {
  std::string line = "complete -c debubble -n '__fish_seen_subcommand_from " + std::string(verb) + "'";
  if (!flag.short_name.empty()) line.append(" -s ").append(flag.short_name.substr(1));
  for (const std::string_view name : names_of(flag)) {
    if (name.starts_with("--")) line.append(" -l ").append(name.substr(2));
  }
  return line + fish_value(flag) + " -d " + fish_quoted(help_of(flag)) + "\n";
}

}  // namespace

std::string fish_completions(std::span<const DocumentedVerb> verbs) {
  std::string text = "# Completion of debubble's command line: debubble list completions fish | source\n";
  for (const DocumentedVerb& verb : verbs) {
    text += "complete -c debubble -f -n __fish_use_subcommand -a " + fish_quoted(verb.facts.name) + " -d " +
            fish_quoted(verb.facts.summary) + "\n";
  }
  for (const DocumentedVerb& verb : verbs) {
    for (const Flag& flag : *verb.rows) {
      if (!is_positional(flag)) text += fish_line(verb.facts.name, flag);
    }
  }
  return text + "complete -c debubble -f -s h -l help -d 'the flags of a verb'\n";
}

}  // namespace debubble
