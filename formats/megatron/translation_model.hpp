// The model that Megatron-LM's arguments describe: the flags --model, --model-size and --sequence, and those of
// experts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "formats/megatron/arguments.hpp"
#include "formats/megatron/launch.hpp"

namespace debubble {

struct MegatronModel {
  std::vector<std::pair<std::string, std::string>> flags;
  std::int64_t layers = 0;
};

// Throws F001 where they do not say how large it is.
[[nodiscard]] MegatronModel read_megatron_model(MegatronArguments& arguments, const MegatronLaunch& launch,
                                                const std::string& name);

}  // namespace debubble
