// pipedream-2bw: 1F1B without a flush, one update per u microbatches, and two versions of the weights: those of the
// last update for microbatches that enter, those before for microbatches on their way. (Narayanan et al., ICML 2021)
//
//     2 devices, update_every=2     rows[0]  0F0 0F1 0B0 0F2 0B1 | 0F3 0B2 0F4 0B3 | ...       | an update
//                                   rows[1]  1F0 1B0 1F1 1B1 | 1F2 1B2 1F3 1B3 | ...
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& pipedream_2bw_entry();

}  // namespace debubble
