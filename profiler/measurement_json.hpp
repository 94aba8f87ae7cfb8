// The "measurement" of a profile file: how a measurement went, read strictly. Written by profile_writer.cpp.
#pragma once

#include "profiler/json_tree.hpp"
#include "profiler/problem_list.hpp"
#include "sim/core/profile.hpp"

namespace debubble {

// `value` stands at /measurement. Layers and rest must add up to all GPU time (P012).
[[nodiscard]] Measurement read_measurement(const JsonValue& value, ProblemList& problems);

}  // namespace debubble
