// Megatron-LM's --pipeline-model-parallel-layout as a partition: which layers each stage gets, as letters.
// (sim/core/layout_letters.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/core/profile.hpp"

namespace debubble {

// Layers per stage. What count_layers counts as the embedding is E, its blocks t, predictors m, head L; a profile
// without embedding or head places nothing for E or L. Throws InputError with the column of what is wrong; and when
// stages or letters do not match, or a stage's letters are no layer of the profile. A stage without letters gets none.
[[nodiscard]] std::vector<int> parse_layout(std::string_view text, int stages, const Profile& profile);

// The layout of a partition of the profile's layers, with E and L whether or not the profile has them: Megatron wants
// both. Throws InputError where no layout says it: a cut inside the embedding or the head.
[[nodiscard]] std::string write_layout(const std::vector<int>& partition, const Profile& profile);

}  // namespace debubble
