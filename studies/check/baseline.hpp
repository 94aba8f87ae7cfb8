// The baseline of a suite, `debubble.baseline/1`: every scenario's prediction as it was accepted, for git to keep.
//
// A prediction is the scenario's JSON report (docs/report.schema.json) without the command line and debubble's version.
// One file holds all of a suite's, in the suite's order, in lines that make a readable git diff: a changed number is a
// changed line. The same predictions give the same bytes on every machine.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/report.hpp"
#include "studies/check/result.hpp"

namespace debubble {

struct NamedPrediction {
  std::string name;  // of the scenario
  Report report;
};

// The whole file, ending in a newline.
[[nodiscard]] std::string baseline_text(std::span<const NamedPrediction> predictions);

struct BaselineComparison {
  std::vector<PredictionResult> predictions;  // one for each that was given
  std::vector<std::string> gone;              // scenarios that only the baseline has
  bool rewritten_by_hand = false;             // every number is the same, the bytes are not
};

// `accepted` is the file's text, nothing when there is none. Throws InputError P010 when it is not a baseline; `file`
// is for messages.
[[nodiscard]] BaselineComparison compare_with_baseline(std::span<const NamedPrediction> predictions,
                                                       const std::optional<std::string>& accepted,
                                                       const std::string& file);

// Whether the text may be replaced by a new baseline: it is one, whole or spoilt by a merge, or empty.
[[nodiscard]] bool may_replace(std::string_view accepted);

// Whether compare_with_baseline takes it.
[[nodiscard]] bool is_baseline(const std::string& accepted);

}  // namespace debubble
