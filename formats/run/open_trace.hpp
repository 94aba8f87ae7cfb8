// Our own Chrome traces as runs, and what imported runs share with them.
#pragma once

#include <string>
#include <vector>

#include "formats/importers/pipeline_trace.hpp"
#include "sim/core/run_record.hpp"
#include "sim/rows/observed.hpp"

namespace debubble {

// Our own trace, exactly as it was: spans, transfers, planned schedule, costs, links, counted memory and who
// ran it. Throws InputError P012 for metadata
// that is missing or malformed, and what the schedule table's reader and assemble_timeline throw.
[[nodiscard]] RunRecord open_own_trace(const PipelineTrace& trace);

// assemble_timeline, whose errors name the file.
[[nodiscard]] Timeline assemble_timeline_of(const std::string& file, const Schedule& schedule,
                                            const Observation& observation);

// The schedule that these ops ran in, row by row in order of begin, read as a schedule table; a pair counts as one.
// `name` is for messages.
[[nodiscard]] Schedule schedule_of_ops(std::vector<ObservedOp> ops, int devices, const std::string& name);

}  // namespace debubble
