// `debubble import --from megatron`: a launch script of Megatron-LM becomes a scenario file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/request/flag.hpp"

namespace debubble {

// What is said about a script beside its text.
struct ScriptFlags {
  std::vector<std::string> set;  // NAME=VALUE, 7=VALUE
  std::string args_text;
  bool args_given = false;
  std::vector<std::string> files;  // PATH=FILE
  std::string environment;         // a file as `env` prints it
  std::string directory;           // where the script is started
  std::optional<std::int64_t> gpus;
  bool arguments_only = false;
  bool run_script = false;  // by bash itself, under a guard, in addition
};

// What the script of another tool than Megatron-LM does not say.
struct ScriptModel {
  std::string name;
  std::optional<int> sequence;
};

[[nodiscard]] FlagRows script_rows(ScriptFlags& flags);

// Reads `file`, writes the scenario to `output` ("-": stdout), and what is left out or unknown to stderr. Throws
// InputError for what is no Megatron command.
int import_megatron(const std::string& file, const ScriptFlags& flags, const ScriptModel& model,
                    const std::string& output);

}  // namespace debubble
