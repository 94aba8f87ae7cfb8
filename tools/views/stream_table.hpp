// The stages of a pipeline without a flush: how old the weights are that they read, and what they keep.
//
//     stage  F late  B late  F against B  versions  buffers  in flight  stable step
//     s0          3       3            0         4        0          4         22 %
//     s1          2       2            0         3        0          3         31 %
//     ...
#pragma once

#include <string>

#include "sim/analysis/report.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// The table and what its columns mean, within the style's width: columns that do not fit follow in a second table. The
// report must have a stream.
[[nodiscard]] std::string stream_table(const Report& report, const ViewStyle& style);

// "one microbatch per 3.000 ms once the pipeline is full"; "" where the pace is not known.
[[nodiscard]] std::string stream_pace(const StreamReport& stream);

}  // namespace debubble
