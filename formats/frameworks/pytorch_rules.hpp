// What torchtitan and nanotron themselves decide, as rows of formats/frameworks/rules.hpp: read in their packages.
#pragma once

#include "formats/frameworks/rules.hpp"

namespace debubble {

[[nodiscard]] FrameworkRules torchtitan_rules();
[[nodiscard]] FrameworkRules nanotron_rules();

}  // namespace debubble
