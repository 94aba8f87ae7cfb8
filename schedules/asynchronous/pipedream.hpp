// pipedream: 1F1B without a flush, one update per minibatch, and a stash of weights, so that F and B of a minibatch see
// the same ones. A stage may be shared by several devices. (Narayanan et al., SOSP 2019)
//
//     replicas=2,1,1: 3 stages on 4 devices     rows[0]  0F0 0F2 0B0 0F4 0B2 ...     stage 0, even minibatches
//                                               rows[1]  0F1 0F3 0B1 0F5 0B3 ...     stage 0, odd minibatches
//                                               rows[2]  1F0 1F1 1B0 1F2 1B1 ...
//                                               rows[3]  2F0 2B0 2F1 2B1 ...
//
// Minibatch i of a stage with r devices runs on its device i mod r, and its backward too. A minibatch is a microbatch
// here: what flows through the stages.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& pipedream_entry();

}  // namespace debubble
