// Megatron-LM's own cut of the layers: how many stages a rank has, and which layers each stage.
#pragma once

#include <cstdint>
#include <string>

#include "formats/megatron/arguments.hpp"

namespace debubble {

struct MegatronCut {
  std::int64_t chunks = 1;  // stages of a rank
  std::string partition;    // as --partition takes it; empty: one stage
};

// Of arguments that Megatron-LM does not refuse, for so many layers on so many pipeline ranks. What no cut follows from
// is a finding. `own`: the cut of a framework that does not cut so, as --partition takes it.
[[nodiscard]] MegatronCut megatron_cut(MegatronArguments& arguments, std::int64_t layers, std::int64_t ranks,
                                       const std::string& own);

}  // namespace debubble
