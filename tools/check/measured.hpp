// A measured run against a prediction: bubble, step time and peak activation memory, over its repetitions.
#pragma once

#include "sim/analysis/report.hpp"
#include "sim/core/run_record.hpp"
#include "tools/check/result.hpp"
#include "tools/check/suite.hpp"

namespace debubble {

// Errors are measured - predicted; memory is judged on the device whose median error is the largest, where the executor
// counted what it allocated. `predicted` must have a result and the record at least one iteration.
[[nodiscard]] MeasurementResult judge_run(const RunRecord& record, const Report& predicted,
                                          const Tolerances& tolerances);

// What keeps the two from being compared: "the run has 8 devices, the scenario 4"; empty when nothing does.
[[nodiscard]] std::string mismatch(const RunRecord& record, const Report& predicted);

}  // namespace debubble
