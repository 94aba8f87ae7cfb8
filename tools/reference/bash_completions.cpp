#include <string_view>
#include <vector>

#include "tools/reference/completions.hpp"

namespace debubble {

namespace {

std::string bash_names(const FlagRows& rows) {
  std::string names;
  for (const Flag& flag : rows) {
    if (is_positional(flag)) continue;
    for (const std::string_view name : names_of(flag)) names.append(name).append(" ");
  }
  return names + "--help";
}

// "simulate -s"|"simulate --schedule": how the word before the one to complete may look.
std::string bash_patterns(std::string_view verb, const Flag& flag) {
  std::string patterns;
  for (const std::string_view name : names_of(flag)) {
    patterns.append(patterns.empty() ? "\"" : "|\"").append(verb).append(" ").append(name).append("\"");
  }
  return patterns;
}

constexpr const char* kBashEnd = R"(  esac
  if [[ $word == -* ]]; then values=$names; fi
  COMPREPLY=($(compgen -W "$values" -- "$word"))
}
complete -o default -F _debubble debubble
)";

}  // namespace

std::string joined_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

bool takes_path(const Flag& flag) {
  const std::string_view type = is_positional(flag) ? flag.name : type_of(flag);
  return type.find("FILE") != std::string_view::npos || type.find("FOLDER") != std::string_view::npos;
}

std::string bash_completions(std::span<const DocumentedVerb> verbs) {
  std::string all;
  for (const DocumentedVerb& verb : verbs) all.append(all.empty() ? "" : " ").append(verb.facts.name);
  std::string text =
      "# Completion of debubble's command line: source <(debubble list completions bash)\n"
      "_debubble() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} names= values=\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W \"" +
      all +
      "\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${COMP_WORDS[1]} in\n";
  for (const DocumentedVerb& verb : verbs) {
    text.append("    ").append(verb.facts.name).append(") names=\"" + bash_names(*verb.rows) + "\" ;;\n");
  }
  text += "  esac\n  case \"${COMP_WORDS[1]} $before\" in\n";
  for (const DocumentedVerb& verb : verbs) {
    for (const Flag& flag : *verb.rows) {
      const std::vector<std::string> values = completions_of(flag);
      if (values.empty()) continue;
      text += "    " + bash_patterns(verb.facts.name, flag) + ") values=\"" + joined_words(values) + "\" ;;\n";
    }
  }
  return text + kBashEnd;
}

}  // namespace debubble
