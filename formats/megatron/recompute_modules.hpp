// Megatron-Core's --recompute-modules, as debubble's flag of that name takes it.
#pragma once

#include <string>

#include "formats/megatron/arguments.hpp"

namespace debubble {

// "mlp,moe_act": those that the model has, each once. Megatron-Core takes the names of others, too, and does nothing
// for them; a finding says so.
[[nodiscard]] std::string recompute_modules(MegatronArguments& arguments);

}  // namespace debubble
