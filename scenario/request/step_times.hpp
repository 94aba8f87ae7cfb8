// The times of --step: "reduce=2,optimizer=0.5,gather=1,norm=0.1,embedding=0.2".
#pragma once

#include <string>
#include <string_view>

#include "cost_models/step/step_work.hpp"

namespace debubble {

// In toy units (1 = 1 ms) or with units of their own. Throws InputError C006 for an item that is not KEY=TIME,
// C017 for an unknown key, C007 for one that is given twice, and C011 to C014, C065 for a bad time, all of the list's
// at once.
[[nodiscard]] StepTimes parse_step_times(std::string_view text, const std::string& place);

}  // namespace debubble
