// What PyTorch's schedule classes, torchtitan and nanotron decide, as rows (formats/frameworks/rules.hpp): read in
// their packages.
#pragma once

#include "formats/frameworks/rules.hpp"

namespace debubble {

[[nodiscard]] FrameworkRules pytorch_rules();
[[nodiscard]] FrameworkRules torchtitan_rules();
[[nodiscard]] FrameworkRules nanotron_rules();

}  // namespace debubble
