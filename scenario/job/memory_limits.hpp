// What every device's allocator may take.
#pragma once

#include "scenario/job/assumptions.hpp"
#include "scenario/job/job.hpp"
#include "scenario/request/scenario.hpp"

namespace debubble {

// Empty where nothing is to be judged. Throws InputError C004 and F041.
[[nodiscard]] Assumed<MemoryLimits> make_memory_limits(const Scenario& scenario, int devices);

}  // namespace debubble
