#include <string_view>
#include <vector>

#include "tools/reference/completions.hpp"

namespace debubble {

namespace {

// Inside single quotes of the shell, and inside a description, where brackets and colons end it.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char character : text) {
    if (character == '\'') {
      result += "'\\''";
      continue;
    }
    if (character == '[' || character == ']' || character == ':' || character == '\\') result += '\\';
    result += character;
  }
  return result;
}

// ":TYPE:(a b c)", ":FILE:_files"; nothing for a switch. A blank before _alternative keeps _arguments from adding
// options that it does not know.
std::string zsh_value(const Flag& flag) {
  if (is_switch(flag)) return "";
  const std::string_view type = is_positional(flag) ? flag.name : type_of(flag);
  const std::vector<std::string> values = completions_of(flag);
  std::string text = ":" + zsh_text(type) + ":";
  if (!values.empty() && takes_path(flag)) {
    return text + " _alternative \"words\\:word\\:(" + joined_words(values) + ")\" \"files\\:file\\:_files\"";
  }
  if (!values.empty()) return text + "(" + joined_words(values) + ")";
  return takes_path(flag) ? text + "_files" : text + " ";
}

std::string zsh_specs(const Flag& flag) {
  if (is_positional(flag)) return "        '" + std::string(takes_list(flag) ? "*" : "") + zsh_value(flag) + "' \\\n";
  std::string text;
  for (const std::string_view name : names_of(flag)) {
    const bool joined = name.starts_with("--") && !is_switch(flag);
    text += "        '*" + std::string(name) + (joined ? "=" : "") + "[" + zsh_text(help_of(flag)) + "]" +
            zsh_value(flag) + "' \\\n";
  }
  return text;
}

constexpr const char* kZshEnd = R"(  esac
}
if [[ ${funcstack[1]-} == _debubble ]]; then
  _debubble "$@"
else
  (( ${+functions[compdef]} )) || { autoload -U +X compinit && compinit }
  compdef _debubble debubble
fi
)";

}  // namespace

std::string zsh_completions(std::span<const DocumentedVerb> verbs) {
  std::string text =
      "#compdef debubble\n"
      "# Completion of debubble's command line: source <(debubble list completions zsh)\n"
      "_debubble() {\n"
      "  if (( CURRENT == 2 )); then\n"
      "    local -a verbs=(\n";
  for (const DocumentedVerb& verb : verbs) {
    text += "      '" + zsh_text(verb.facts.name) + ":" + zsh_text(verb.facts.summary) + "'\n";
  }
  text +=
      "    )\n"
      "    _describe verb verbs\n"
      "    return\n"
      "  fi\n"
      "  local verb=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $verb in\n";
  for (const DocumentedVerb& verb : verbs) {
    text += "    " + std::string(verb.facts.name) + ")\n      _arguments \\\n";
    for (const Flag& flag : *verb.rows) text += zsh_specs(flag);
    text += "        '(-h --help)'{-h,--help}'[the flags of the verb]' ;;\n";
  }
  return text + kZshEnd;
}

}  // namespace debubble
