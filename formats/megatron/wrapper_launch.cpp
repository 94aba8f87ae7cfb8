#include "formats/megatron/wrapper_launch.hpp"

namespace debubble {
namespace {

bool is_config_file(const std::string& word) {
  return word.ends_with(".yaml") || word.ends_with(".yml") || word.ends_with(".json");
}

}  // namespace

std::string wrapper_name(const std::string& program) {
  if (program.starts_with("megatron ") || program.find("swift/cli/_megatron/") != std::string::npos ||
      program.starts_with("swift.cli._megatron")) {
    return "ms-swift";
  }
  return program.starts_with("verl.trainer") ? "verl" : "";
}

WrapperWords reword_launch(shell::Launch& launch) {
  const std::string tool = wrapper_name(launch.program);
  if (tool.empty() || !config_of_wrapper(launch).empty()) return {};
  WrapperWords read = tool == "verl" ? verl_words(verl_values(launch.arguments)) : swift_words(launch.arguments);
  launch.arguments = read.words;
  if (tool == "verl") return read;
  const std::string& program = launch.program;
  if (program.ends_with("rlhf") || program.find("rlhf.py") != std::string::npos) {
    read.refused = "ms-swift: " + program + " trains with a second model, which is not modelled";
    read.help = "megatron sft and megatron pt are";
  }
  const auto each = launch.environment.find("NPROC_PER_NODE");
  const auto nodes = launch.environment.find("NNODES");
  if (each == launch.environment.end() || !launch.launchers.empty()) return read;
  launch.arguments.insert(launch.arguments.end(), {"--actor-num-gpus-per-node", each->second});
  if (nodes != launch.environment.end()) {
    launch.arguments.insert(launch.arguments.end(), {"--actor-num-nodes", nodes->second});
  }
  return read;
}

std::string config_of_wrapper(const shell::Launch& launch) {
  const bool told = wrapper_name(launch.program) == "ms-swift" || launch.program.starts_with("llamafactory-cli");
  return told && !launch.arguments.empty() && is_config_file(launch.arguments.front()) ? launch.arguments.front() : "";
}

}  // namespace debubble
