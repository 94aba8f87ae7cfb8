// What flags of Megatron-LM, torchtitan, DeepSpeed and PyTorch are called here: people type the names that they know.
#pragma once

#include <string>
#include <string_view>

#include "scenario/request/flag.hpp"

namespace debubble {

// "here it is --devices (-p, --pp)", for a verb with these rows; empty where nothing is known, or the verb has no such
// flag. `name`: as typed, with its dashes.
[[nodiscard]] std::string foreign_flag_help(std::string_view name, const FlagRows& rows);

}  // namespace debubble
