// Lists of a run as NumPy's structured arrays: a row each, named columns with their units.
#pragma once

#include <pybind11/numpy.h>

#include <vector>

#include "sim/analysis/report.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"

namespace debubble::python {

// device, kind ("F", "B", "I", "W", "R", "S", "T"), stage, microbatch, paired, ready_ns, begin_ns, end_ns: a row for
// every op, by device, then in running order. The two ops of an overlapped pair have the same times.
[[nodiscard]] pybind11::array spans_array(const Timeline& timeline);
// kind, stage, microbatch, from_device, to_device, begin_ns, end_ns, latency_ns, contention_ns, bytes.
[[nodiscard]] pybind11::array transfers_array(const Timeline& timeline);
// device, position, kind, stage, microbatch, paired: a schedule's rows.
[[nodiscard]] pybind11::array ops_array(const Schedule& schedule);
// at_ns, total_bytes, then bytes by category: the level of one device's memory from `at_ns` on.
[[nodiscard]] pybind11::array memory_array(const std::vector<MemoryPoint>& points);

}  // namespace debubble::python
