// profile_waves: how much work the layers of a profiled transformer are, counted in waves.
#pragma once

#include "cost_models/sizes/profile_at.hpp"
#include "cost_models/transformer/hardware.hpp"

namespace debubble {

// The time of a layer's kernels as kernel_time.hpp models them, without what every kernel costs on top of its work:
// matmuls in whole waves of tiles, everything else by the memory's bandwidth. Only ratios between sizes mean anything.
// Of layers of the kinds "embedding", "transformer" and "head", on the profile's tensor-parallel share, without
// collectives; 0 of others, and empty without `profile.transformer` or for an unknown number format.
[[nodiscard]] LayerWaves profile_waves(const Profile& profile, const Hardware& hardware);

}  // namespace debubble
