// Refuses what Megatron-LM itself refuses, by its rules (formats/rules/megatron.rules).
#pragma once

#include <string>

#include "formats/megatron/arguments.hpp"
#include "formats/megatron/launch.hpp"

namespace debubble {

// Throws InputError P035 with every rule that is broken. Nothing is refused of arguments that older releases and
// Megatron-DeepSpeed have; of a fork's, what ranks, batches and layers cannot be.
void refuse_as_megatron(const MegatronArguments& arguments, const MegatronLaunch& launch, const std::string& name);

}  // namespace debubble
