// What Megatron-Bridge 0.6 makes of a configuration before it runs: sections that override others.
#pragma once

#include <optional>

#include "formats/frameworks/section_words.hpp"

namespace debubble {

// Whether the file is Megatron-Bridge's own, not NeMo's.
[[nodiscard]] bool is_bridge_config(ConfigTree& tree);

// Behind copy_section of model, ddp, train and dataset. `world`: ranks, where they are known.
void read_bridge_settings(ConfigTree& tree, SectionWords& sections, std::optional<int> world);

}  // namespace debubble
