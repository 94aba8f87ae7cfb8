// Several traces as the ranks of one pipeline: their order, their common zero, and that none is missing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "formats/importers/kineto_ranges.hpp"

namespace debubble {

// In order of rank. Throws InputError D004 for a trace without PP: ranges, D005 where a rank is unknown or given twice.
void sort_by_rank(std::vector<PipelineTrace>& ranks);

// Of ranks that ran the same ops, which are the replicas of one another, those of one pipeline stay. The others' place
// among the given ranks says which: the lowest rank of each stage is of replica 0. Throws InputError C003 where there
// is no such replica, D005 where stages have different numbers of ranks.
void keep_replica(std::vector<PipelineTrace>& ranks, int replica, std::vector<std::string>& notes);

// `count` pipelines are given, and this one is wanted. Throws InputError C003.
void require_replica(int replica, std::size_t count);

// All files' times on one axis that begins near 0: each file counts from a base of its own.
void shift_to_common_base(std::vector<PipelineTrace>& ranks);

// Throws InputError D005 where a transfer's other end, or a stage between others, is of no rank. Says in `notes` where
// that cannot be determined.
void require_all_ranks(const std::vector<PipelineTrace>& ranks, std::vector<std::string>& notes);

}  // namespace debubble
