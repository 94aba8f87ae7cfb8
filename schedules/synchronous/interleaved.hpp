// Interleaved 1F1B, Megatron-LM's virtual pipeline: v stages per device shrink the bubble by v.
// Narayanan et al., SC 2021, arXiv 2104.04473.
//
//     stage s on device s mod p; microbatches go through in groups of g: chunk 0 of the group, chunk 1, ...
//     bubble over ideal (p-1)/(v m); device d holds min(2(p-1-d)+(v-1)g+1, m v)/v activations
//
// `group` is Megatron Core's microbatch-group size. `rounding=pytorch` derives it as PyTorch's ScheduleInterleaved1F1B
// does: max(1, m div p) rounds of m div rounds microbatches each.
#pragma once

#include <optional>
#include <string>

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& interleaved_entry();

// The order under another name, for `depth-first`.
[[nodiscard]] Schedule build_interleaved(const ScheduleRequest& request, const std::string& name);

// The closed forms; the case names its `group`.
[[nodiscard]] std::optional<double> interleaved_makespan(const FormCase& form);
[[nodiscard]] std::optional<double> interleaved_peak(const FormCase& form);

}  // namespace debubble
