// Seq1F1B: 1F1B whose unit is a slice of a sequence. Sun et al., 2024, arXiv 2406.03488.
//
//     p=4 m=2 k=2, Fi.q      d0  F0.0 F0.1 F1.0 F1.1 B0.1 B0.0 B1.1 B1.0       a slice's backward needs the next
//                            d3  F0.0 F0.1 B0.1 F1.0 B0.0 F1.1 B1.1 B1.0       slice's backward: k - 1 more warm-ups
//
// Device d holds min(p - 1 - d + k, m k) slices, (p - d) / k of a microbatch and the rest of one in work. With v > 1
// the units pass the chunks in groups of p, as in interleaved 1F1B; in SlimPipe's order (Li et al., arXiv 2504.14519)
// in groups of a microbatch's k slices.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& seq1f1b_entry();

}  // namespace debubble
