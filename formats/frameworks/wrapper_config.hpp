// YAML of tools that start Megatron-LM or torchtitan with arguments of their own file: Megatron-LM's tests, Primus,
// FlagScale; and tuners (tuner_config.hpp).
#pragma once

#include <optional>

#include "formats/frameworks/framework_scenario.hpp"

namespace debubble {

// Nothing where the file is of none of these.
[[nodiscard]] std::optional<FrameworkScenario> read_wrapper(ConfigTree& tree, const FrameworkRequest& request);

}  // namespace debubble
