// What DeepSpeed decides about a configuration, as rows (formats/frameworks/rules.hpp). An example is what `debubble
// import --from deepspeed` gets beside a model and 8 ranks: flags, if any, and the file.
#pragma once

#include "formats/frameworks/rules.hpp"

namespace debubble {

[[nodiscard]] FrameworkRules deepspeed_rules();

}  // namespace debubble
