// How the gate's numbers read, the same in every output.
#pragma once

#include <string>

#include "studies/check/result.hpp"

namespace debubble {

[[nodiscard]] std::string predicted_text(const MetricResult& metric);  // "27.27 %", "33.00 ms", "4.00 MiB"
[[nodiscard]] std::string measured_text(const MetricResult& metric);
[[nodiscard]] std::string error_text(const MetricResult& metric);      // "+2.13 pp", "-0.40 %"
[[nodiscard]] std::string tolerance_text(const MetricResult& metric);  // "1 pp", "2.5 %"
// "[+2.01, +2.20]"; empty for a single repetition, which has none.
[[nodiscard]] std::string interval_text(const MetricResult& metric, int repetitions);
// "memory on d2".
[[nodiscard]] std::string metric_name(const MetricResult& metric);

// "bubble: 27.27 % predicted, 29.40 % measured: +2.13 pp [+2.01, +2.20], 1 pp allowed".
[[nodiscard]] std::string metric_sentence(const MetricResult& metric, int repetitions);

// "the prediction is the accepted one", "the prediction is not the accepted one: makespan_ns 33000000 -> 34000000, and
// 12 more numbers". `most` bounds the numbers that are named.
[[nodiscard]] std::string prediction_sentence(const PredictionResult& prediction, std::size_t most);
// "makespan_ns 33000000 -> 34000000 (+3.0 %)".
[[nodiscard]] std::string change_text(const NumberChange& change);

// "recorded, cuda, gpu clock, NVIDIA H200, 2026-11-20, 10 repetitions".
[[nodiscard]] std::string source_text(const MeasurementResult& measurement);

// How a run got stuck or went wrong, in lines; empty when it ended as it should.
[[nodiscard]] std::string failure_text(const MeasurementResult& measurement);

// "12 scenarios: 10 pass, 1 warn, 1 fail".
[[nodiscard]] std::string tally_text(const Tally& tally);

}  // namespace debubble
