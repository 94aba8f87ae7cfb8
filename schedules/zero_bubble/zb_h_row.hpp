// The rows of ZB-H1 and ZB-H2, which differ in one number: how many F a hop puts between two devices' first I.
#pragma once

#include <vector>

#include "sim/core/op.hpp"

namespace debubble {

// `lead` forwards per hop: 1 for ZB-H1, 2 for ZB-H2. A device d hops from the first runs lead * d more I before its
// first W than the first device does.
[[nodiscard]] std::vector<Op> zb_h_row(int lead, int device, int devices, int microbatches);

}  // namespace debubble
