// Several traces as the ranks of one pipeline: their order, their common zero, and that none is missing.
#pragma once

#include <string>
#include <vector>

#include "formats/importers/kineto_ranges.hpp"

namespace debubble {

// In order of rank. Throws InputError D004 for a trace without PP: ranges, D005 where a rank is unknown or given twice.
void sort_by_rank(std::vector<PipelineTrace>& ranks);

// All files' times on one axis that begins near 0: each file counts from a base of its own.
void shift_to_common_base(std::vector<PipelineTrace>& ranks);

// Throws InputError D005 where a transfer's other end, or a stage between others, is of no rank. Says in `notes` where
// that cannot be determined.
void require_all_ranks(const std::vector<PipelineTrace>& ranks, std::vector<std::string>& notes);

}  // namespace debubble
