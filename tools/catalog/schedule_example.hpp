// The example by which a schedule is shown: simulated and drawn, with the command that draws it again.
#pragma once

#include <string>

#include "schedules/common/contract.hpp"
#include "tools/views/style.hpp"

namespace debubble {

struct ScheduleExample {
  std::string command;  // "debubble simulate --schedule zb-h1 -p 4 -m 8"
  std::string drawing;  // the chart of that command
  std::string numbers;  // "step 27.00 ms, bubble 11.1 % of the step, peak 4.00 activations"
};

// Throws InputError when the row refuses its own example: a fault of the row.
[[nodiscard]] ScheduleExample schedule_example(const ScheduleEntry& entry, const ViewStyle& style);

}  // namespace debubble
