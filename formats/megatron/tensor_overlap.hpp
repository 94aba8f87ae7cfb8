// Megatron-LM's arguments about what tensor ranks exchange beside products, as --tensor-overlap.
#pragma once

#include <cstdint>
#include <string>

#include "formats/megatron/arguments.hpp"

namespace debubble {

// "off", "userbuffers", ...; empty: the default. What cannot be said exactly becomes a finding of the arguments.
[[nodiscard]] std::string tensor_overlap(MegatronArguments& arguments, std::int64_t tensor_ranks);

}  // namespace debubble
