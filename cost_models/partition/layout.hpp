// Megatron-LM's --pipeline-model-parallel-layout as a partition: which layers each stage gets, as letters.
//
//     Et*3|(tt|)*20,m|L      E embedding, t decoder layer, m MTP layer, L loss; '|' ends a stage, x*N and (...)*N
//     repeat
//
// Commas and blanks mean nothing. Stages are in model order; Megatron puts stage s on rank s mod p.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/core/profile.hpp"

namespace debubble {

// Whether the text means to be a layout and not numbers of layers: it holds a '|' or begins with one of E, t, m, L,
// '('.
[[nodiscard]] bool is_layout(std::string_view text);

// Layers per stage. What count_layers counts as the embedding is E, its blocks t, predictors m, head L; a profile
// without embedding or head places nothing for E or L. Throws InputError with the column of what is wrong; and when
// stages or letters do not match, or a stage would get no layer of the profile.
[[nodiscard]] std::vector<int> parse_layout(std::string_view text, int stages, const Profile& profile);

// The layout of a partition of the profile's layers, with E and L whether or not the profile has them: Megatron wants
// both. Throws InputError where no layout says it: a cut inside the embedding or the head.
[[nodiscard]] std::string write_layout(const std::vector<int>& partition, const Profile& profile);

}  // namespace debubble
