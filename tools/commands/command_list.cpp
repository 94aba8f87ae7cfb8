#include "tools/commands/command_list.hpp"

#include <memory>
#include <string_view>
#include <vector>

#include "formats/json/json.hpp"
#include "formats/text/choice.hpp"
#include "tools/commands/command.hpp"
#include "tools/flags/config_file.hpp"

namespace debubble {

namespace {

// A verb's flags with what their targets belong to.
struct VerbRows {
  const CommandEntry* entry = nullptr;
  std::unique_ptr<Command> command;
  std::unique_ptr<std::string> config;
  FlagRows rows;
};

std::vector<VerbRows> all_rows() {
  std::vector<VerbRows> verbs;
  for (const CommandEntry& entry : command_catalog()) {
    VerbRows verb{&entry, entry.make(), std::make_unique<std::string>(), {}};
    verb.rows = verb.command->flags();
    verb.rows.push_back(config_row(*verb.config));
    verbs.push_back(std::move(verb));
  }
  return verbs;
}

const char* kind_of(const Flag& flag) {
  if (is_switch(flag)) return "switch";
  if (takes_list(flag)) return "list";
  const bool is_text = std::holds_alternative<std::string*>(flag.target) ||
                       std::holds_alternative<std::vector<std::string>*>(flag.target);
  return is_text ? "text" : "whole";
}

Json names_json(const FlagRule& rule) {
  Json names = Json::array();
  for (const std::string_view name : rule.others) names.push_back(name);
  return names;
}

Json strings_json(const std::vector<std::string>& strings) {
  Json list = Json::array();
  for (const std::string& one : strings) list.push_back(one);
  return list;
}

Json flag_json(const Flag& flag) {
  return {{"name", flag.name},
          {"short_name", flag.short_name},
          {"alias", flag.alias},
          {"group", flag.group},
          {"type", type_of(flag)},
          {"unit", unit_of(flag)},
          {"words", strings_json(flag.words.empty() ? std::vector<std::string>{} : split_names(flag.words))},
          {"kind", kind_of(flag)},
          {"help", flag.help},
          {"default", flag.default_text},
          {"required", flag.required},
          {"needs", names_json(flag.needs)},
          {"excludes", names_json(flag.excludes)}};
}

std::string bash_names(const FlagRows& rows) {
  std::string names;
  for (const Flag& flag : rows) {
    if (is_positional(flag)) continue;
    for (const std::string_view name : {flag.short_name, flag.name, flag.alias}) {
      if (!name.empty()) names.append(name).append(" ");
    }
  }
  return names + "--help";
}

std::string word_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// "simulate -s"|"simulate --schedule": how the word before the one to complete may look.
std::string bash_patterns(const std::string& verb, const Flag& flag) {
  std::string patterns;
  for (const std::string_view name : {flag.short_name, flag.name, flag.alias}) {
    if (name.empty()) continue;
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

std::string commands_json() {
  Json commands = Json::array();
  for (const VerbRows& verb : all_rows()) {
    Json flags = Json::array();
    for (const Flag& flag : verb.rows) flags.push_back(flag_json(flag));
    commands.push_back({{"name", verb.entry->name},
                        {"summary", verb.entry->summary},
                        {"example", verb.entry->example},
                        {"flags", std::move(flags)}});
  }
  return Json{{"schema_version", 1}, {"commands", std::move(commands)}}.text(2) + "\n";
}

std::string bash_completions() {
  const std::vector<VerbRows> verbs = all_rows();
  std::string all;
  for (const VerbRows& verb : verbs) all += (all.empty() ? "" : " ") + verb.entry->name;
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
  for (const VerbRows& verb : verbs)
    text += "    " + verb.entry->name + ") names=\"" + bash_names(verb.rows) + "\" ;;\n";
  text += "  esac\n  case \"${COMP_WORDS[1]} $before\" in\n";
  for (const VerbRows& verb : verbs) {
    for (const Flag& flag : verb.rows) {
      const std::vector<std::string> values = completions_of(flag);
      if (values.empty()) continue;
      text += "    " + bash_patterns(verb.entry->name, flag) + ") values=\"" + word_list(values) + "\" ;;\n";
    }
  }
  return text + kBashEnd;
}

std::string zsh_completions() {
  return "# Completion of debubble's command line: source <(debubble list completions zsh)\n"
         "autoload -U +X compinit && compinit\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash_completions();
}

}  // namespace debubble
