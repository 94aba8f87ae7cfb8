// Megatron-LM's arguments as a scenario.
#pragma once

#include <string>

#include "formats/megatron/arguments.hpp"
#include "formats/megatron/launch.hpp"
#include "formats/megatron/scenario_of.hpp"

namespace debubble {

// Throws InputError F001 where they do not say how large the model is, P030 where the number of ranks is missing.
// `own_cut`: as in LaunchGiven.
[[nodiscard]] MegatronScenario translated(MegatronArguments& arguments, const MegatronLaunch& launch,
                                          const std::string& name, const std::string& own_cut = {});

}  // namespace debubble
