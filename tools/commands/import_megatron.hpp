// `debubble import --from megatron`: a launch script of Megatron-LM becomes a scenario file.
#pragma once

#include <string>

namespace debubble {

// Reads `file`, writes the scenario to `output` ("-": stdout), and what is left out or unknown to stderr. Throws
// InputError for what is no Megatron command.
int import_megatron(const std::string& file, const std::string& output);

}  // namespace debubble
