// Which training a launch script starts: the program's arguments as it gets them, and on how many ranks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/shell/evaluator.hpp"

namespace debubble {

// What somebody says about a script beside its text.
struct LaunchGiven {
  shell::Given shell;
  std::optional<std::int64_t> gpus;  // ranks in all
  bool as_megatron = true;           // whether what Megatron-LM itself refuses is refused
  std::string cut;                   // of a framework with another cut of the layers, as --partition takes it
  std::string model;                 // whose sizes are not among the arguments: a preset or a config.json
  std::int64_t layers = 0;           // of that model
  std::int64_t predicted = 0;        // its blocks that predict further tokens
  bool experts = false;              // whether it has any
  std::optional<int> sequence;       // where the arguments do not say it
  bool needs_ranks = true;           // whether it is asked for their number, and for DeepSpeed's file
};

struct MegatronLaunch {
  std::string program;                 // pretrain_gpt.py; "" of a bare list of arguments
  std::vector<std::string> arguments;  // what is not known of those without effect stands as <NAME>
  std::optional<std::int64_t> ranks;   // nothing: the text does not say, and nobody needs it
  // Variables that its rules ask for, where the script sets them.
  std::map<std::string, std::string> environment;
  std::string config;  // DeepSpeed's configuration, where there is one
  std::string config_path;
  std::string missing_ranks;  // what would say the number of ranks
  std::string missing_files;  // "; it may be set by FILE, --file PATH=FILE" where such files are not here
  int line = 0;               // of the script, where it is started; 0: not of a script
  bool script = true;
  std::vector<std::string> notes;
};

// Throws InputError: P010 where nothing with such arguments is started, P030 where they depend on what is not known
// (the message says on what, and how to give it), P031 where the script cannot be followed.
[[nodiscard]] MegatronLaunch read_launch(const std::string& text, const std::string& name, const LaunchGiven& given);

// "FILE:LINE" of a script's training, FILE of anything else.
[[nodiscard]] std::string launch_place(const MegatronLaunch& launch, const std::string& name);

}  // namespace debubble
