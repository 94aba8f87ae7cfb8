// Time limits: how long a run on CPUs takes at least, and how long it may be silent before something is wrong.
#pragma once

#include <string>

#include "live/job.hpp"

namespace debubble::live {

// Without any device doing a step. An op may take longer than people's patience with it, even many times its cost on a
// loaded machine; on the wall clock an emulated link may be busy for long as well. `token`: ops take no time to speak
// of, see WorkShape.
[[nodiscard]] Nanoseconds watchdog_timeout(const Job& job, bool token);

// All iterations, warm-up included, when every op takes its cost: that of the device with most to do, or what all
// devices share `cores` cores for, whichever is longer. At most 2^60.
[[nodiscard]] Nanoseconds least_time(const Job& job, int cores);

// For LiveProgress: "calibrating"; where the work that follows takes a minute or more also how long, and from ten
// minutes on what would be quicker: "calibrating, then at least 12 min of work; --clock logical is quick".
[[nodiscard]] std::string calibration_text(const Job& job, int cores);

}  // namespace debubble::live
