// What `debubble live` says in addition to the report: how the run was measured, or where it got stuck.
//
//     live       cpu, wall clock: 8 usable cores are enough for 4 devices and the one who watches
//     machine    AMD EPYC 9654 96-Core Processor (8 cores); OpenBLAS 0.3.21
//     step       33.02 ms [32.97 ms .. 33.40 ms], the median of 5 iterations [p10 .. p90]
//     bubble     27.4 % [27.3 % .. 28.0 %]
//     tensors    48 crossed devices, each with the right checksum chain
//
//     next       debubble diff run.json
//
// Of an exact run there is one iteration: "33.00 ms, 1 iteration" and "27.3 %".
#pragma once

#include <string>

#include "live/live.hpp"
#include "sim/core/run_record.hpp"
#include "studies/live/start.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// `run_file` is where the record went; empty: nowhere.
[[nodiscard]] std::string measured_view(const LivePlan& plan, const RunRecord& record, const std::string& run_file,
                                        const ViewStyle& style);

// The cause, and a line for each device.
[[nodiscard]] std::string stall_view(const Stall& stall, const ViewStyle& style);

}  // namespace debubble
