// Megatron-LM's own cut of the layers: how many stages a rank has, and which layers each stage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/megatron/arguments.hpp"

namespace debubble {

struct MegatronCut {
  std::int64_t chunks = 1;  // stages of a rank
  std::string partition;    // as --partition takes it; empty: one stage
};

// What says how many virtual stages a rank has, but for a layout.
struct MegatronChunkArguments {
  std::int64_t layers = 0;  // with the embedding and the loss where they count as layers
  std::int64_t ranks = 1;
  std::optional<std::int64_t> layers_of_stage;  // --num-layers-per-virtual-pipeline-stage
  std::optional<std::int64_t> stages_of_rank;   // --num-virtual-stages-per-pipeline-rank
};
[[nodiscard]] std::int64_t megatron_chunks(const MegatronChunkArguments& given);

// Of arguments that Megatron-LM does not refuse, for so many layers on so many pipeline ranks. What no cut follows from
// is a finding. `own`: the cut of a framework that does not cut so, as --partition takes it.
[[nodiscard]] MegatronCut megatron_cut(MegatronArguments& arguments, std::int64_t layers, std::int64_t ranks,
                                       const std::string& own);

}  // namespace debubble
