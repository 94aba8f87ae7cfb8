// predict: what `debubble simulate` says of one record's run, by the very same path.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// All but one part by its name, "measured-products"; nothing where no part has this name.
[[nodiscard]] std::optional<ModelEffects> effects_without(std::string_view part);
[[nodiscard]] std::vector<std::string> effect_names();

// The command that shows the same: "debubble simulate --schedule 1f1b ...".
[[nodiscard]] std::string command_of(const ResultRecord& record, const FittedConstant* constant);

}  // namespace debubble
