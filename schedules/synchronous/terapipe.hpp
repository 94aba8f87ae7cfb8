// TeraPipe: slices of a sequence follow one another through the pipeline; later tokens wait for earlier ones only.
// Li et al., ICML 2021, arXiv 2102.07988.
//
//     m=1, 3 slices      d0 F0 F1 F2 .. .. B2 B1 B0       a microbatch is a pipeline of its own: bubble / k, memory of
//                        d1 .. F0 F1 F2 B2 B1 B0 ..       gpipe. A slice's backward needs the next slice's first.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& terapipe_entry();

}  // namespace debubble
