// Effects: every record predicted anew with one part of the model switched off, each part alone.
//
// A part is a switch of ModelEffects, or a flag that records have or that every run could have. What has neither is not
// here: transfers between stages as measured, schedules' own bubbles, the training step's optimizer and reductions.
#pragma once

#include <string>
#include <vector>

#include "studies/accuracy/accuracy.hpp"

namespace debubble {

struct ModelEffect {
  const char* name = "";               // "measured products"
  const char* without = "";            // what stands in for it: "constant shares of the peak, tiles and waves"
  bool ModelEffects::*part = nullptr;  // null: by flags
  std::vector<std::string> dropped;    // flags that a record loses: "--scatter-gather"
  std::string added;                   // and the one that it gets instead, if it had one of these or `always`
  bool always = false;
};
[[nodiscard]] const std::vector<ModelEffect>& effects();

// One quantity of a source (or of a group of its records): what it is with everything, and without the effect.
struct EffectErrors {
  const ResultSource* source = nullptr;
  ErrorSummary with, without;
  int changed = 0;  // records whose prediction is another one
};

struct JudgedEffect {
  const ModelEffect* effect = nullptr;
  std::vector<EffectErrors> errors;  // of all sources, in the order of JudgedEffects::with
  std::vector<std::string> refused;  // records that cannot be predicted without it; they keep what they had
};

struct JudgedEffects {
  std::vector<JudgedSource> with;  // without any constant
  std::vector<JudgedEffect> effects;
};

// In the order of effects(), on all cores, with the same result on any number of them. `only`: names of sources; an
// empty one stands for all. The results must outlive what is returned.
[[nodiscard]] JudgedEffects judge_effects(const ResultsFile& results, const std::vector<std::string>& only);

}  // namespace debubble
