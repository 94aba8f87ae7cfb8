// What arguments of older releases and of DeepSpeed's configuration mean, as today's arguments.
#pragma once

#include <string>

#include "formats/megatron/arguments.hpp"
#include "formats/megatron/launch.hpp"

namespace debubble {

// --checkpoint-activations and its like become --recompute-*.
void apply_older_arguments(MegatronArguments& arguments);

// Batches, ZeRO's stage and formats that only DeepSpeed's JSON has. Throws InputError P001 for what is no JSON, P030
// where ZeRO's stage lies in a file that is not here.
void apply_deepspeed_config(MegatronArguments& arguments, const MegatronLaunch& launch, const std::string& name);

}  // namespace debubble
