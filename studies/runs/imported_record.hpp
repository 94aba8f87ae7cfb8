// A measured run of another tool as a RunRecord.
#pragma once

#include <string>

#include "formats/importers/imported_run.hpp"
#include "formats/importers/pipeline_trace.hpp"
#include "sim/core/run_record.hpp"

namespace debubble {

// Schedule, costs and links are those of `schedule_of`; without it (null) the schedule is what ran first, and its costs
// are the medians of what was measured. `file` is for messages. Throws InputError D010 when the ops are not those of
// `schedule_of`, V020 and V023 as assemble_timeline.
[[nodiscard]] RunRecord record_of_imported(ImportedRun run, const std::string& file, const RunRecord* schedule_of);

// PyTorch's traces, one per rank. Throws what import_kineto_run and record_of_imported throw.
[[nodiscard]] RunRecord open_kineto_run(std::vector<PipelineTrace> ranks, const RunRecord* schedule_of,
                                        int replica = 0);

}  // namespace debubble
