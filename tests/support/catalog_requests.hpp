// Many requests for a catalog row, made from the row itself: a new schedule is covered by adding its row.
#pragma once

#include <string>
#include <vector>

#include "schedules/common/contract.hpp"

namespace debubble::testing {

// Combinations of small devices, microbatches, chunks and parameter values: a fixed choice of them, spread over all
// there are, the same every time. Some of them the row will refuse.
[[nodiscard]] std::vector<ScheduleRequest> requests_for(const ScheduleEntry& entry);

// The schedules of those requests that are not refused, at most `most`. A refusal must carry a code, a message and
// help; the first one that does not is thrown as std::logic_error.
[[nodiscard]] std::vector<Schedule> schedules_of(const ScheduleEntry& entry, std::size_t most = 120);

// "chimera p=4 m=8 v=1 mode=direct pairs=1", for messages.
[[nodiscard]] std::string describe(const Schedule& schedule);
[[nodiscard]] std::string describe(const ScheduleEntry& entry, const ScheduleRequest& request);

}  // namespace debubble::testing
