// What CUPTI's result codes mean for a person: the error of each, with a remedy that works.
#pragma once

#include <string>

#include "profiler/cupti/table.hpp"
#include "sim/core/error.hpp"

namespace debubble {

// U003; `name` as CUPTI gives it, or empty.
[[nodiscard]] UnavailableError other_profiler(const CuptiTable& cupti, const std::string& name);

// U003, U005, U020 or U025: why this step did not succeed.
[[nodiscard]] UnavailableError refused_step(const CuptiTable& cupti, cupti_abi::Result result, const std::string& step);

// U020.
[[nodiscard]] UnavailableError no_driver(const std::string& reason);

// U011: `what` of its records makes no sense.
[[nodiscard]] UnavailableError senseless_records(const CuptiTable& cupti, const std::string& what);

}  // namespace debubble
