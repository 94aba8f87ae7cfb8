// A run as AMD's Primus writes it for its pipeline view (pp_vis): a JSON file per rank, in which every iteration has
// the begins and ends of its forwards and backwards in ms, in the order in which they ran; and config.json.
//
//     pp_rank_3.json  {"2": {"total": 2965.1, "memory": .., "fwd_start": [181.08, ..], "fwd_end": [..], "bwd_start":
//     ..}} config.json     {"pp_size": 8, "vp_size": 1, "num_mbs": 16, ...}
//
// - A file's rank is the number in its name. Each rank counts from its own begin of the iteration, which is taken to
//   be one time for all: a note says by how much ops begin before their inputs were made.
// - Which op a time belongs to is not in the files: the k-th forward of a rank is microbatch k's; with several chunks
//   (vp_size) it is that of Megatron-LM's interleaved order.
// - Transfers were not timed. That they overlap compute with several chunks per rank, and that compute waits for them
//   otherwise, is Megatron-LM's default (overlap_p2p_communication).
// - Iterations at the start that take more than a quarter longer than the median are warm-up, and left out.
#pragma once

#include <string_view>
#include <vector>

#include "formats/importers/runs/run_reader.hpp"

namespace debubble {

[[nodiscard]] bool is_primus_rank(std::string_view text);  // a rank's file, or config.json

// Throws InputError: P001, P002, P004, P006, P007 for what is no such file, D005 for ranks that are missing, given
// twice or not in a file's name, D006 without an iteration of all ranks, D010 where counts do not fit config.json.
[[nodiscard]] ImportedRun read_primus_ranks(std::vector<RunText> files, const RunReaderOptions& options);

}  // namespace debubble
