#include "formats/megatron/scenario_of.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/megatron/argument_list.hpp"
#include "formats/megatron/argument_table.hpp"
#include "formats/megatron/arguments.hpp"
#include "formats/megatron/launch.hpp"
#include "formats/megatron/log_bubble.hpp"
#include "formats/megatron/log_iterations.hpp"
#include "formats/megatron/older_arguments.hpp"
#include "formats/megatron/rule_facts.hpp"
#include "formats/megatron/translation.hpp"
#include "formats/megatron/wrapper_launch.hpp"
#include "formats/rules/framework_rules.hpp"
#include "formats/rules/refusal.hpp"
#include "formats/rules/rule_condition.hpp"
#include "formats/text/printable.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

constexpr const char* kConnections = "CUDA_DEVICE_MAX_CONNECTIONS";

bool is_another_program(const MegatronArguments& arguments) {
  constexpr std::array<std::string_view, 6> kOthers{"deepspeed",         "zero-stage",
                                                    "deepspeed-config",  "checkpoint-activations",
                                                    "use-legacy-models", "no-pipeline-parallel"};
  return arguments.has_older_names() || std::any_of(kOthers.begin(), kOthers.end(), [&](std::string_view name) {
           return arguments.values().contains(std::string(name));
         });
}

// What Megatron-LM's parser refuses: frameworks around it, which set arguments of their own, have names like these.
bool is_a_fork(const MegatronArguments& arguments) {
  const auto& values = arguments.values();
  return std::any_of(values.begin(), values.end(), [](const auto& one) {
    return one.first == "hf-checkpoint" || one.first == "actor-num-nodes" || !megatron_argument(one.first);
  });
}

// Throws InputError P035 with every rule that is broken. Nothing is refused of arguments that older releases and
// Megatron-DeepSpeed have; of a fork's, what ranks, batches and layers cannot be.
void refuse_as_megatron(const MegatronArguments& arguments, const MegatronLaunch& launch, const std::string& name) {
  if (is_another_program(arguments)) return;
  RuleFacts facts = megatron_facts(arguments, launch.ranks);
  if (const auto found = launch.environment.find(kConnections); found != launch.environment.end()) {
    facts.set(kConnections, RuleFacts::Words{found->second});
  }
  const FrameworkRules& rules = *rules_of_framework("megatron");
  const bool fork = is_a_fork(arguments);
  std::vector<Diagnostic> problems;
  for (const FrameworkRule& rule : rules.rows) {
    if (rule.example.empty() || rule.of_run || (fork && !rule.of_sizes) || !holds(rule.condition, facts)) continue;
    problems.push_back(refusal(rules, rule, facts, "P035", printable(launch_place(launch, name))));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

// A log's block has every argument, with its default: what is unknown of them is no finding.
MegatronScenario read_log(const std::string& text, const std::string& name) {
  const MegatronLog log = read_megatron_log(text);
  MegatronArguments arguments(log.words);
  apply_older_arguments(arguments);
  MegatronLaunch launch;
  launch.script = false;
  MegatronScenario scenario = translated(arguments, launch, name);
  scenario.findings = arguments.found();
  const MeasuredIterations measured = measured_iterations(log, arguments.count("global-batch-size").value_or(0));
  scenario.measured_first = measured.first;
  if (measured.only_first && measured.first > 0) return scenario;
  scenario.measured_iteration = median_iteration_time(measured);
  scenario.measured_lines = measured.intervals.size();
  const auto size = [&](const char* argument) { return arguments.count(argument).value_or(1); };
  const std::int64_t pipeline = size("pipeline-model-parallel-size");
  const std::int64_t model = size("tensor-model-parallel-size") * size("context-parallel-size") * pipeline;
  const std::int64_t ranks = arguments.count("world-size").value_or(model);
  if (pipeline > 1) scenario.measured_bubble = median_bubble(measured.intervals, ranks);
  return scenario;
}

}  // namespace

MegatronScenario read_megatron(const std::string& text, const std::string& name) {
  LaunchGiven given;
  given.shell.path = name;
  return read_megatron(text, name, given);
}

MegatronScenario read_megatron(const std::string& text, const std::string& name, const LaunchGiven& given) {
  if (is_megatron_log(text)) return read_log(text, name);
  return megatron_scenario(read_launch(text, name, given), name, given);
}

namespace {

// Sizes that another model's take the place of, once what depends on the number of layers is known.
std::vector<std::string> with_sizes(std::vector<std::string> words, const LaunchGiven& given) {
  if (!given.experts) drop_expert_arguments(words);
  words.insert(words.end(), {"--num-layers", std::to_string(given.layers), "--hidden-size", "4096",
                             "--num-attention-heads", "32", "--vocab-size", "32000"});
  if (given.experts && !has_argument(words, "num-experts")) words.insert(words.end(), {"--num-experts", "8"});
  for (const std::string dropout : {"hidden-dropout", "attention-dropout"}) {
    if (!has_argument(words, dropout)) words.insert(words.end(), {"--" + dropout, "0.0"});
  }
  if (given.sequence) words.insert(words.end(), {"--seq-length", std::to_string(*given.sequence)});
  return words;
}

}  // namespace

MegatronScenario megatron_scenario(const MegatronLaunch& launch, const std::string& name, const LaunchGiven& given) {
  const std::string tool = wrapper_name(launch.program);
  if (!tool.empty() && given.model.empty()) {
    fail("F001", launch_place(launch, name), tool + " takes the model's sizes from its config.json, which is not here",
         "add --model config.json, or the name of a model");
  }
  MegatronArguments arguments(given.model.empty() ? launch.arguments : with_sizes(launch.arguments, given));
  if (arguments.empty()) {
    throw InputError(
        Diagnostic{"P010", name, "there are no arguments like --num-layers 24",
                   "give the script that starts Megatron-LM, its arguments in a file, or a whole training log"});
  }
  if (launch.script) arguments.refuse_at(launch_place(launch, name));
  arguments.refuse_without_value();
  if (given.as_megatron && tool.empty()) refuse_as_megatron(arguments, launch, name);
  apply_deepspeed_config(arguments, launch, name);
  apply_older_arguments(arguments);
  MegatronScenario scenario = translated(arguments, launch, name, given.cut);
  arguments.refuse_unknown_sizes(launch_place(launch, name));
  if (!given.model.empty()) {
    std::erase_if(scenario.flags, [](const auto& flag) { return flag.first == "model-size"; });
    for (auto& [flag, value] : scenario.flags) {
      if (flag == "model") value = given.model;
    }
    const std::int64_t predicted = arguments.number("mtp-num-layers").value_or(given.predicted);
    if (!tool.empty() && predicted != given.predicted) {
      scenario.flags.emplace_back("model-size", "predicted_tokens=" + std::to_string(predicted));
    }
    scenario.findings.push_back((tool.empty() ? "" : tool + ": ") + "the model's sizes are those of --model " +
                                given.model);
  }
  scenario.findings.insert(scenario.findings.end(), launch.notes.begin(), launch.notes.end());
  return scenario;
}

std::string measured_words(const MegatronScenario& scenario) {
  if (scenario.measured_iteration == 0 && scenario.measured_first == 0) return "";
  if (scenario.measured_iteration == 0) {
    return format_duration(scenario.measured_first) + " for the first iteration, which warms up; no line is of others";
  }
  const std::size_t lines = scenario.measured_lines;
  std::string words = format_duration(scenario.measured_iteration) + " per iteration, the median of " +
                      std::to_string(lines) + (lines == 1 ? " line" : " lines") + " of the log";
  if (!scenario.measured_bubble) return words;
  const auto [least, most] = *scenario.measured_bubble;
  words += "; bubble of the pipeline " + format_percent(least);
  return least < most ? words + " to " + format_percent(most) : words;
}

std::string write_scenario(const MegatronScenario& scenario, const std::string& name) {
  std::string text = "# From " + printable(name) + ", by debubble import --from megatron.\n";
  const std::string measured = measured_words(scenario);
  if (!measured.empty()) text += "# measured: " + measured + "\n";
  return text + scenario_lines(scenario.flags, scenario.findings);
}

std::string scenario_lines(const std::vector<std::pair<std::string, std::string>>& flags,
                           const std::vector<std::string>& findings) {
  std::string text;
  for (const std::string& finding : findings) text += "# note: " + printable(finding) + "\n";
  for (const auto& [flag, value] : flags) {
    const bool bare = value == "true" || value.find_first_not_of("0123456789") == std::string::npos;
    text += flag + " = " + (bare ? value : "\"" + printable(value) + "\"") + "\n";
  }
  return text;
}

}  // namespace debubble
