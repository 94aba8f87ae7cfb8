// What a Megatron-LM command means as a scenario of ours: the flags of `debubble simulate`.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace debubble {

struct MegatronScenario {
  std::vector<std::pair<std::string, std::string>> flags;  // name without dashes, value; "true" for a bare flag
  std::vector<std::string> findings;                       // what is left out, unknown or assumed
};

// Throws InputError P010 where the text has no arguments, F001 where it does not say how large the model is.
[[nodiscard]] MegatronScenario read_megatron(const std::string& text, const std::string& name);

// The scenario as a file for --config.
[[nodiscard]] std::string write_scenario(const MegatronScenario& scenario, const std::string& name);

}  // namespace debubble
