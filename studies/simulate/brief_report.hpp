// The Report of a run whose spans are not kept: the same numbers, worked out while the run goes by (RowStream), so that
// beside the schedule's rows it takes a byte per (stage, piece), and what waits, transfers and memory leave open at a
// time. For runs of millions of ops of which nothing is drawn.
#pragma once

#include <optional>

#include "scenario/job/job.hpp"
#include "sim/analysis/report.hpp"

namespace debubble {

// What analyse() would say of the run (sim/analysis/analyse.hpp), whether it fits the devices' memory, and, where
// `iterations` is not 0, the steady period of at most so many. Nothing where that takes spans: recomputed ops, copies,
// shards of the vocabulary, unequal pieces, transfers that hold lanes or share links, a training step, variation,
// replicas that differ, work for the bubbles, a schedule without a flush; nor for rows that deadlock.
[[nodiscard]] std::optional<Report> brief_report(const Job& job, int iterations);

}  // namespace debubble
