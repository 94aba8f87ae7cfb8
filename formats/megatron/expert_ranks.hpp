// Megatron-LM's ranks of experts, where they reach over tensor ranks.
#pragma once

#include <cstdint>

#include "formats/megatron/arguments.hpp"

namespace debubble {

// --expert-model-parallel-size. Where it is more than the `places` (data x context ranks; 0: not known) and experts are
// split over fewer tensor ranks than the rest, Megatron-LM puts whole experts on tensor ranks; as many weights a rank
// come from fewer ranks of experts, each split over all tensor ranks. That is a finding of the arguments.
[[nodiscard]] std::int64_t expert_ranks(MegatronArguments& arguments, std::int64_t tensor_ranks, std::int64_t places);

}  // namespace debubble
