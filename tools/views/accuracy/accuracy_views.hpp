// How the accuracy of all sources is shown: as text and as `debubble.accuracy/2`.
#pragma once

#include <string>
#include <vector>

#include "studies/accuracy/accuracy.hpp"
#include "studies/accuracy/ranges.hpp"
#include "tools/views/style.hpp"

namespace debubble {

[[nodiscard]] std::string accuracy_text(const std::vector<JudgedSource>& sources, const ResultsFile& results,
                                        const ViewStyle& style);
[[nodiscard]] std::string accuracy_json(const std::vector<JudgedSource>& sources, const ResultsFile& results,
                                        const JudgedRanges& ranges, const std::string& command_line);

[[nodiscard]] const char* words_for(Quantity quantity);                // "step time", "peak memory", "bubble"
[[nodiscard]] std::string words_for(const ErrorSummary& summary);      // "step time, dense"
[[nodiscard]] std::string with_unit(Quantity quantity, double value);  // "1.420 s", "66.60 GiB", "0.1585"
// "met", "missed", or "" without a target.
[[nodiscard]] std::string verdict(const ErrorSummary& summary);
// "6 %: met", or "" without a target.
[[nodiscard]] std::string target_text(const ErrorSummary& summary);
// "within noise" where the source's repeated measurements are as far apart; else "".
[[nodiscard]] std::string noise_text(const JudgedSource& judged, Quantity quantity, double error);
// Whether its records name different software, or only some name any: then it stands with each of them.
[[nodiscard]] bool software_differs(const JudgedSource& judged);
// What all records name; "" where it differs or none does.
[[nodiscard]] std::string common_software(const JudgedSource& judged);
// "h100 in fp8".
[[nodiscard]] std::string machine_text(const HardwareFormat& machine);
// "h100 in fp8: 0.95, from 2 records of 1 source".
[[nodiscard]] std::string constant_text(const FittedConstant& constant);

}  // namespace debubble
