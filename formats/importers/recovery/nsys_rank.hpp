// Nsight Systems exports (nsys export --type sqlite) as RankEvents: one per process that has ranges of use.
//
//     NVTX_EVENTS                    push/pop and start/end ranges, emit_nvtx's and NCCL's among them
//     CUPTI_ACTIVITY_KIND_RUNTIME    when a kernel was launched; with
//     CUPTI_ACTIVITY_KIND_KERNEL     when it ran: without both, times are the host's
//     TARGET_INFO_SESSION_START_TIME each export counts from the begin of its own session
//
// An export of one process is of the rank in its file's name (report.rank3.sqlite). In one of several, processes that
// used different GPUs are ranks in the order of these, others in the order of their numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/importers/recovery/rank_events.hpp"

namespace debubble {

[[nodiscard]] bool is_sqlite(std::string_view image);

// `several`: there are other files, so that the number of a GPU is no rank. Throws InputError P010, K001 as SqliteFile,
// P006 without a table or column that is needed, D004 without a range that says anything of a pipeline, D005 for
// several processes where there are several files.
[[nodiscard]] std::vector<RankEvents> read_nsys_ranks(std::string_view image, const std::string& file, bool several);

}  // namespace debubble
