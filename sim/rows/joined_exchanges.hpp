// What Megatron-LM's interleaved 1F1B posts and waits for between two passes of a device, by its own code
// (forward_backward_pipelining_with_interleaving of megatron-core 0.19): after each pass one exchange of what it made
// and of what the device before (or, going back, after) it made in that step. In warm-up and cool-down the device waits
// for the whole exchange before its next pass, in the steady phase for what that pass needs alone. The first device
// receives from the last one, and the last from the first, p - 1 passes after these were made: where groups hold more
// than p microbatches long before their use.
#pragma once

#include <optional>

#include "sim/rows/op_index.hpp"
#include "sim/rows/posted_receives.hpp"

namespace debubble {

// Nothing for other orders: those of several stages of a loop per device with one replica, in which all devices run the
// same number of forwards and of backwards.
[[nodiscard]] std::optional<Posting> joined_exchanges(const OpIndex& ops);

}  // namespace debubble
