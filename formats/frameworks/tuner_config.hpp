// Files of tools that train a published model further: LLaMA-Factory (0.9.5: hparams, model/adapter.py, train/mca),
// ms-swift and verl (formats/megatron/wrapper_words.hpp). The model's sizes lie in its config.json.
#pragma once

#include <optional>

#include "formats/frameworks/framework_scenario.hpp"

namespace debubble {

// Nothing where the file is of none of these.
[[nodiscard]] std::optional<FrameworkScenario> read_tuner(ConfigTree& tree, const FrameworkRequest& request);

}  // namespace debubble
