// What there is to say about the transformer that is modelled.
#pragma once

#include <vector>

#include "scenario/request/scenario.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/assumption.hpp"

namespace debubble {

struct ModelFacts {
  std::vector<Assumption> assumptions;
  // What the model leaves out (F030), and devices whose collectives take longer than others' because their ranks lie on
  // other links (F025).
  std::vector<Finding> findings;
  // For Report::mfu; 0: unknown.
  double microbatch_flops = 0;  // of the model, forward and backward
  double peak_flops = 0;        // of all devices that work on a microbatch, per second
};

// For a pipeline of so many devices; empty without a --model.
[[nodiscard]] ModelFacts model_facts(const Scenario& scenario, int devices);

}  // namespace debubble
