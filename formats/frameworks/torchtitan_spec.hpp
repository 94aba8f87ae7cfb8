// The model in what a job of torchtitan 0.3 prints and saves of itself (debug.print_config, debug.save_config_file):
// `model_spec` has every block with its modules and their sizes, whatever the flavor is called.
#pragma once

#include <cstdint>

#include "formats/frameworks/framework_scenario.hpp"
#include "formats/rules/rule_facts.hpp"

namespace debubble {

// Whether the configuration has one.
[[nodiscard]] bool has_titan_spec(ConfigTree& tree);

// Whether its blocks' tokens reach their experts without the host's waiting, as CUDA graphs of expert ranks ask for.
[[nodiscard]] bool exchanges_by_device(ConfigTree& tree);

// Sets model and model-size, and what rules ask of the model; returns the number of blocks. Problems: F033 for blocks
// that have no cost model or differ in more than experts, windows; F001 where sizes are missing.
std::int64_t read_titan_spec(ConfigTree& tree, FrameworkScenario& scenario, RuleFacts& facts);

}  // namespace debubble
