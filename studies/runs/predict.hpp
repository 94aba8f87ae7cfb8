// What a RunRecord's own schedule, costs and links predict, and what was measured, as Reports of one form.
#pragma once

#include <cstddef>
#include <string>

#include "sim/analysis/report.hpp"
#include "sim/core/run_record.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

// A simulated run as a record, for --save-run and for comparisons.
[[nodiscard]] RunRecord record_of(const Simulated& run, const std::string& command_line);

// Why neither a run file nor a trace holds the whole run: it has tasks of a training step, or its transfers travel over
// a modelled network. "" when they do.
[[nodiscard]] std::string not_in_run_files(const Simulated& run);

// Simulates the record's schedule with the record's costs and links: the prediction that belongs to a measured run.
// A deadlock is in the report.
[[nodiscard]] Simulated simulate_record(const RunRecord& record, Progress& progress);

// The report of one iteration of a record: analyse() plus assumptions, throughput and, where the executor counted it,
// its own peak activation in place of the computed one. steady_period stays empty: one iteration does not show it.
[[nodiscard]] Report report_of(const RunRecord& record, std::size_t iteration);

// The iteration with the median makespan (the lower one of two).
[[nodiscard]] std::size_t median_iteration(const RunRecord& record);

}  // namespace debubble
