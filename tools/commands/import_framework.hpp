// `debubble import --from torchtitan|deepspeed|...`: a framework's configuration becomes a scenario file.
#pragma once

#include <string>

#include "formats/frameworks/framework_scenario.hpp"
#include "scenario/request/flag.hpp"

namespace debubble {

// What the file may not say: ranks and their split.
[[nodiscard]] FlagRows framework_rows(FrameworkRequest& request);
[[nodiscard]] bool is_framework(const std::string& tool);

// Reads `file`, writes the scenario to `output` ("-": stdout), and what was assumed or left out to stderr.
int import_framework(const std::string& tool, const std::string& file, FrameworkRequest request,
                     const std::string& output);

}  // namespace debubble
