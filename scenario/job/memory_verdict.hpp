// The verdict on memory: what every device has, whether the run fits, and what would make it fit.
#pragma once

#include <string>
#include <vector>

#include "scenario/job/run.hpp"

namespace debubble {

// Sets run.memory: what the allocator of each device may take, with the assumptions behind it. Throws InputError C004
// and F041.
void set_memory_limits(const Scenario& scenario, Run& run);

// Fills Report::memory_fit where limits are set, and adds finding F040 where the run does not fit.
void judge_memory(Run& run);

[[nodiscard]] bool out_of_memory(const Report& report);

// Runs the scenario again with one thing changed at a time, and names in MemoryFit::remedies, and in the finding, what
// makes it fit. Nothing for runs of so many ops that this would take minutes.
void add_remedies(const Scenario& scenario, const std::string& name, Run& run, Progress& progress);

}  // namespace debubble
