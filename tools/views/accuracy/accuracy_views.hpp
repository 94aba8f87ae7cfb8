// How the accuracy of all sources is shown: as text and as `debubble.accuracy/3`.
#pragma once

#include <string>
#include <vector>

#include "formats/json/json.hpp"
#include "studies/accuracy/accuracy.hpp"
#include "studies/accuracy/ranges.hpp"
#include "tools/views/style.hpp"

namespace debubble {

[[nodiscard]] std::string accuracy_text(const std::vector<JudgedSource>& sources, const ResultsFile& results,
                                        const ViewStyle& style);
[[nodiscard]] std::string accuracy_json(const std::vector<JudgedSource>& sources, const ResultsFile& results,
                                        const JudgedRanges& ranges, const std::string& command_line);

// Coverage of ranges, below the text and in the JSON.
// "" without records.
[[nodiscard]] std::string ranges_text(const JudgedRanges& ranges, const ViewStyle& style);
[[nodiscard]] Json ranges_json_of(const JudgedRanges& ranges);

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

}  // namespace debubble
