// xpipe: microbatches of several minibatches in flight, no flush; the first microbatch of a minibatch predicts the
// weights with Adam's direction, and the others use its prediction. (Guan et al. 2019)
//
//     2 devices, update_every=2     rows[0]  0F0 0F1 0B0 0F2 0B1 | 0F3 0B2 0F4 0B3 | ...       | an update
//                                   rows[1]  1F0 1B0 1F1 1B1 | 1F2 1B2 1F3 1B3 | ...
//
// The paper's own order was not at hand: this is 1F1B, the order of its relatives.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& xpipe_entry();

}  // namespace debubble
