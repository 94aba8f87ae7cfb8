#include "tools/commands/command_list.hpp"

#include <memory>
#include <string_view>
#include <vector>

#include "formats/json/json.hpp"
#include "formats/text/choice.hpp"
#include "tools/commands/command.hpp"
#include "tools/flags/config_file.hpp"
#include "tools/reference/completions.hpp"
#include "tools/reference/man_page.hpp"

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

Json flag_json(const Flag& flag) {
  return {{"name", flag.name},
          {"short_name", flag.short_name},
          {"alias", flag.alias.substr(0, flag.alias.find(','))},
          {"aliases", Json(aliases_of(flag))},
          {"group", flag.group},
          {"type", type_of(flag)},
          {"unit", unit_of(flag)},
          {"words", Json(flag.words.empty() ? std::vector<std::string>{} : split_names(flag.words))},
          {"kind", kind_of(flag)},
          {"help", flag.help},
          {"default", flag.default_text},
          {"required", flag.required},
          {"needs", Json(flag.needs.others)},
          {"excludes", Json(flag.excludes.others)}};
}

std::vector<DocumentedVerb> documented(const std::vector<VerbRows>& verbs) {
  std::vector<DocumentedVerb> list;
  for (const VerbRows& verb : verbs) {
    const CommandEntry& entry = *verb.entry;
    list.push_back({{entry.name, entry.summary, entry.example}, &verb.rows, verb.command->takes_program()});
  }
  return list;
}

}  // namespace

std::string commands_json() {
  Json commands = Json::array();
  for (const VerbRows& verb : all_rows()) {
    Json flags = json_list(verb.rows, flag_json);
    commands.push_back({{"name", verb.entry->name},
                        {"summary", verb.entry->summary},
                        {"example", verb.entry->example},
                        {"flags", std::move(flags)}});
  }
  return Json{{"schema_version", 1}, {"commands", std::move(commands)}}.text(2) + "\n";
}

std::string shell_completions(const std::string& shell) {
  const std::vector<VerbRows> verbs = all_rows();
  const std::vector<DocumentedVerb> list = documented(verbs);
  if (shell == "zsh") return zsh_completions(list);
  return shell == "fish" ? fish_completions(list) : bash_completions(list);
}

std::string manual_page(const std::string& name) {
  const std::vector<VerbRows> verbs = all_rows();
  const std::vector<DocumentedVerb> list = documented(verbs);
  for (const DocumentedVerb& verb : list) {
    if (name == "debubble-" + std::string(verb.facts.name)) return verb_man_page(verb);
  }
  return overview_man_page(list);
}

}  // namespace debubble
