#include "formats/megatron/wrapper_launch.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "formats/megatron/argument_list.hpp"
#include "formats/megatron/argument_table.hpp"
#include "formats/text/printable.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

using Strings = std::vector<std::string>;

// ms-swift: names with underscores, a value behind each flag, and defaults of its own.
Strings swift_words(const Strings& given) {
  Strings words;
  for (std::size_t k = 0; k < given.size(); ++k) {
    std::string name = given[k].substr(0, given[k].find('='));
    if (!name.starts_with("--")) {
      words.push_back(given[k]);
      continue;
    }
    std::replace(name.begin(), name.end(), '_', '-');
    if (name == "--max-length") name = "--seq-length";
    if (name == "--virtual-pipeline-model-parallel-size") name = "--num-virtual-stages-per-pipeline-rank";
    const bool joined = given[k].find('=') != std::string::npos;
    const std::string value = joined ? given[k].substr(given[k].find('=') + 1)
                              : k + 1 < given.size() && !given[k + 1].starts_with("--") ? given[k + 1]
                                                                                        : "";
    const auto row = megatron_argument(todays_name(name.substr(2)));
    if (row && row->values == ArgumentValues::kNone) {
      if (!joined && !value.empty()) ++k;
      if (value != "false" && value != "False") words.push_back(name);
      continue;
    }
    words.push_back(name);
    if (joined) words.push_back(value);
  }
  const auto otherwise = [&](const char* name, const char* value) {
    if (has_argument(words, name)) return;
    words.push_back(std::string("--") + name);
    if (*value != '\0') words.emplace_back(value);
  };
  if (!has_argument(words, "fp16")) otherwise("bf16", "");
  otherwise("micro-batch-size", "1");
  otherwise("global-batch-size", "16");
  otherwise("recompute-granularity", "selective");
  otherwise("use-distributed-optimizer", "");
  return words;
}

// verl's keys are Hydra's, "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2": what one update of the
// actor depends on.
Strings verl_words(const Strings& given) {
  std::map<std::string, std::string> values;
  for (std::string word : given) {
    while (word.starts_with("+")) word.erase(0, 1);
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos && !word.starts_with("-")) values[word.substr(0, equals)] = word.substr(equals + 1);
  }
  Strings words;
  const auto value = [&](const std::string& key) -> std::optional<std::string> {
    const auto found = values.find(key);
    return found == values.end() || found->second == "null" ? std::nullopt : std::optional(found->second);
  };
  const auto add = [&words](const char* name, const std::string& text) {
    words.push_back(std::string("--") + name);
    words.push_back(text);
  };
  const std::string actor = "actor_rollout_ref.actor.";
  for (const auto& [key, text] : values) {
    for (const std::string& prefix : {actor + "megatron.override_transformer_config.", actor + "megatron."}) {
      if (!key.starts_with(prefix) || text == "null") continue;
      std::string name = key.substr(prefix.size());
      if (name.find('.') != std::string::npos) continue;
      std::replace(name.begin(), name.end(), '_', '-');
      if (name == "virtual-pipeline-model-parallel-size") name = "num-virtual-stages-per-pipeline-rank";
      if (name == "num-layers-in-first-pipeline-stage") name = "decoder-first-pipeline-num-layers";
      if (name == "num-layers-in-last-pipeline-stage") name = "decoder-last-pipeline-num-layers";
      const auto row = megatron_argument(name);
      if (!row || row->values != ArgumentValues::kNone) {
        add(name.c_str(), text);
      } else if (text == "True" || text == "true") {
        words.push_back("--" + name);
      }
      break;
    }
  }
  if (const auto micro = value(actor + "ppo_micro_batch_size_per_gpu")) add("micro-batch-size", *micro);
  if (const auto batch = value(actor + "ppo_mini_batch_size")) {
    const auto answers = count_of(value("actor_rollout_ref.rollout.n").value_or("1"));
    const auto prompts = count_of(*batch);
    add("global-batch-size", answers && prompts && *prompts < 1'000'000 && *answers < 1'000'000
                                 ? std::to_string(*prompts * *answers)
                                 : *batch);
  }
  const auto prompt = count_of(value("data.max_prompt_length").value_or(""));
  const auto answer = count_of(value("data.max_response_length").value_or(""));
  if (prompt && answer && *prompt < 1'000'000'000 && *answer < 1'000'000'000) {
    add("seq-length", std::to_string(*prompt + *answer));
  }
  if (const auto nodes = value("trainer.nnodes")) add("actor-num-nodes", *nodes);
  if (const auto each = value("trainer.n_gpus_per_node")) add("actor-num-gpus-per-node", *each);
  if (!value(actor + "megatron.sequence_parallel")) words.emplace_back("--sequence-parallel");
  words.insert(words.end(), {"--bf16", "--use-distributed-optimizer"});
  return words;
}

}  // namespace

std::string wrapper_name(const std::string& program) {
  if (program.starts_with("megatron ") || program.find("swift/cli/_megatron/") != std::string::npos ||
      program.starts_with("swift.cli._megatron")) {
    return "ms-swift";
  }
  return program.starts_with("verl.trainer") ? "verl" : "";
}

void reword_launch(shell::Launch& launch) {
  const std::string tool = wrapper_name(launch.program);
  if (tool == "verl") launch.arguments = verl_words(launch.arguments);
  if (tool != "ms-swift") return;
  launch.arguments = swift_words(launch.arguments);
  const auto each = launch.environment.find("NPROC_PER_NODE");
  const auto nodes = launch.environment.find("NNODES");
  if (each == launch.environment.end() || !launch.launchers.empty()) return;
  launch.arguments.insert(launch.arguments.end(), {"--actor-num-gpus-per-node", each->second});
  if (nodes != launch.environment.end()) {
    launch.arguments.insert(launch.arguments.end(), {"--actor-num-nodes", nodes->second});
  }
}

void refuse_wrapped(const std::string& program, const std::vector<std::string>& arguments, const std::string& place) {
  if (wrapper_name(program) != "ms-swift") return;
  if (program != "megatron sft" && program != "megatron pt" && program.find("/") == std::string::npos &&
      !program.ends_with(".sft") && !program.ends_with(".pt")) {
    fail("F033", place, "ms-swift: " + printable(program) + " trains with a second model, which is not modelled",
         "megatron sft and megatron pt are");
  }
  for (std::size_t k = 0; k + 1 < arguments.size(); ++k) {
    const bool kind = arguments[k] == "--train-type" || arguments[k] == "--tuner-type";
    if (!kind || arguments[k + 1] == "full") continue;
    fail("F033", place,
         "ms-swift: " + arguments[k] + " " + printable(arguments[k + 1]) +
             " trains a part of the weights, which is not modelled",
         "full is");
  }
}

}  // namespace debubble
