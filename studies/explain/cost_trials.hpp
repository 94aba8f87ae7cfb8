// What better software, another number format or other kernels would bring a modelled job: each simulated over the
// whole step.
#pragma once

#include <string>
#include <vector>

#include "scenario/request/scenario.hpp"
#include "sim/analysis/report.hpp"

namespace debubble {

struct CostTrial {
  std::string name;          // "fused-passes", ...: the word for programs
  std::string what;          // "passes over memory inside the kernels before them"
  std::string flags;         // that ask for it: "--cuda-graphs on"; empty: there are none
  bool upper_bound = false;  // nobody is known to reach it: what it brings at most
  Nanoseconds step = 0;
  double change = 0;    // of the step: -0.1 is 10 % less
  bool fits = true;     // into the devices' memory, where that is known
  std::string refusal;  // why it cannot be had, and then there is no step
};

// `flags` are those that gave the scenario, `base` the report of that schedule. Needs a --model.
[[nodiscard]] std::vector<CostTrial> cost_trials(const ScenarioFlags& flags, const Scenario& scenario,
                                                 const std::string& schedule, const Report& base);

}  // namespace debubble
