// A run as another framework's configuration describes it, in the flags of `debubble simulate`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/frameworks/config_tree.hpp"
#include "formats/rules/rule_facts.hpp"

namespace debubble {

// What the file does not say, and the command line does.
struct FrameworkRequest {
  std::optional<int> world_size;
  std::optional<int> pipeline;
  std::optional<int> tensor;
  std::optional<int> sequence;
  bool all_notes = false;
  std::int64_t layers = 0;     // of `model`; 0: not known
  std::int64_t predicted = 0;  // its blocks that predict further tokens
  bool experts = false;        // whether it has any
  std::string model;           // a name, or a config.json; empty: the file's
};

struct FrameworkScenario {
  std::vector<std::pair<std::string, std::string>> flags;  // name without dashes, value; "true" for a bare flag
  std::vector<std::string> findings;                       // what is left out or assumed
  std::vector<std::string> unknown;                        // keys of the file that nobody asked for, by path

  void set(const std::string& flag, std::string value) { flags.emplace_back(flag, std::move(value)); }
  void set(const std::string& flag, std::int64_t value) { flags.emplace_back(flag, std::to_string(value)); }
  void find(std::string text) { findings.push_back(std::move(text)); }
};

// "torchtitan", "deepspeed", "accelerate", "nemo", "nanotron", "neox": whose configurations are read.
[[nodiscard]] const std::vector<std::string>& framework_tools();

// Throws InputError with all problems: P001 to P022 for a file that is none, F001 where it does not say something that
// the run depends on (the message names the key, or the flag that gives it), F033 for what has no cost model. Keys that
// may change time or memory and are not understood are findings.
[[nodiscard]] FrameworkScenario read_framework(const std::string& tool, std::string_view text, const std::string& name,
                                               const FrameworkRequest& request);

// The scenario as a file for --config.
[[nodiscard]] std::string write_framework_scenario(const FrameworkScenario& scenario, const std::string& tool,
                                                   const std::string& name);

// Readers of one framework each; they collect problems in the tree's list.
[[nodiscard]] FrameworkScenario read_torchtitan(ConfigTree& tree, const FrameworkRequest& request);
[[nodiscard]] FrameworkScenario read_deepspeed(ConfigTree& tree, const FrameworkRequest& request);
[[nodiscard]] FrameworkScenario read_accelerate(ConfigTree& tree, const FrameworkRequest& request);
[[nodiscard]] FrameworkScenario read_nemo(ConfigTree& tree, const FrameworkRequest& request);
[[nodiscard]] FrameworkScenario read_nanotron(ConfigTree& tree, const FrameworkRequest& request);
[[nodiscard]] FrameworkScenario read_neox(ConfigTree& tree, const FrameworkRequest& request);

// Keys that nobody asked for become `unknown`; sizes among them are problems (F001), and so is a file of which no key
// was found (P010).
void report_unread(ConfigTree& tree, FrameworkScenario& scenario);

// One line for each section with many of them, one for each key where they are few or `all`.
[[nodiscard]] std::vector<std::string> unknown_notes(const std::vector<std::string>& unknown, bool all);

// P035 for every rule of the framework that a file breaks ("torchtitan": formats/rules/framework_rules.hpp).
void refuse_by_rules(ConfigTree& tree, std::string_view framework, const RuleFacts& facts);

// F001 under a key of the file, or of the command line where `key` begins with "--".
void require_key(ConfigTree& tree, const std::string& key, const std::string& message, const std::string& help);

}  // namespace debubble
