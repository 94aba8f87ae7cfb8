// A run as ByteDance's StragglerAnalysis writes it: one Chrome trace of all ranks, their clocks aligned by its writer.
//
//     process   a data-parallel replica
//     thread    "PP rank 1, TP rank 0, compute", "... pp-comm", ...
//     span      forward-compute, backward-compute               {step, model_chunk, mb_id, seq_id}
//               forward-send, forward-recv, backward-send, ...  {step, seq_id}
//
// - An iteration is a step. One pipeline is read: that of `replica`, of its lowest tensor-parallel rank. Workers that
//   are slower in it than in the other replicas are named in a note.
// - A stage is chunk * ranks + rank. Sends and receives have a place (seq_id) among their rank's, no microbatch: the
//   k-th send is of the k-th op that has somebody to send to. A transfer lasts from the later start of its two ends.
// - What else a step holds (gradient and parameter collectives, optimizer, gc) is outside of the pipeline and left out.
#pragma once

#include <string_view>
#include <vector>

#include "formats/importers/runs/run_reader.hpp"

namespace debubble {

[[nodiscard]] bool is_span_trace(std::string_view text);

// Throws InputError: P001, P002, P004, P006, P007 for what is no such trace, D004 without a compute span, D005 for
// ranks that are missing, D006 without a whole step, V020 for an op that a step has twice, C003 for a replica that is
// not there.
[[nodiscard]] ImportedRun read_span_trace(std::vector<RunText> files, const RunReaderOptions& options);

}  // namespace debubble
