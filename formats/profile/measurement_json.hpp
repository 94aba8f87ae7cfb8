// The "measurement" of a profile file: how a measurement went, read strictly. Written by profile_writer.cpp.
#pragma once

#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"
#include "sim/core/profile.hpp"

namespace debubble {

// `value` is at /measurement. Layers and rest must add up to all GPU time (P012).
[[nodiscard]] Measurement read_measurement(const JsonValue& value, ProblemList& problems);

}  // namespace debubble
