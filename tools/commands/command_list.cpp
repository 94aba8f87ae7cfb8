#include "tools/commands/command_list.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/json/json.hpp"
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

Json flag_json(const Flag& flag) {
  return {{"name", flag.name},
          {"short_name", flag.short_name},
          {"alias", flag.alias},
          {"group", flag.group},
          {"type", flag.type},
          {"kind", kind_of(flag)},
          {"help", flag.help},
          {"default", flag.default_text},
          {"required", flag.required},
          {"needs", names_json(flag.needs)},
          {"excludes", names_json(flag.excludes)}};
}

// "cpu cuda mpi" of "cpu|cuda|mpi"; nothing where a part names a kind of value, as FILE does, in capitals.
std::optional<std::string> words_of(std::string_view type) {
  const bool words = type.find('|') != std::string_view::npos && std::all_of(type.begin(), type.end(), [](char c) {
                       return c == '|' || c == '-' || (c >= 'a' && c <= 'z');
                     });
  if (!words) return std::nullopt;
  std::string list(type);
  std::replace(list.begin(), list.end(), '|', ' ');
  return list;
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
      const std::optional<std::string> words = words_of(flag.type);
      if (!words) continue;
      text.append("    \"").append(verb.entry->name).append(" ").append(flag.name);
      text.append("\") values=\"").append(*words).append("\" ;;\n");
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
