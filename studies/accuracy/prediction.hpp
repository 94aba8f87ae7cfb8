// predict: what `debubble simulate` says of one record's run, by the very same path.
#pragma once

#include <optional>

#include "cost_models/transformer/model_effects.hpp"
#include "studies/accuracy/calibration.hpp"
#include "studies/accuracy/results_file.hpp"

namespace debubble {

struct Prediction {
  double step_seconds = 0;
  double bubble = 0;               // (span - work) / span, the zero-bubble papers' rate
  std::optional<double> peak_gib;  // of the device that needs most; only where the record has it
};

// Throws InputError for flags that do not fit together, and where the run ends in a deadlock. `constant` null: none
// is used. `effects`: all but what a study switches off.
[[nodiscard]] Prediction predict(const ResultRecord& record, const FittedConstant* constant,
                                 const ModelEffects& effects = {});

// The command that shows the same: "debubble simulate --schedule 1f1b ...".
[[nodiscard]] std::string command_of(const ResultRecord& record, const FittedConstant* constant);

}  // namespace debubble
