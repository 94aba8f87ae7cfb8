// What a report says about the transformer that was modelled.
#pragma once

#include "scenario/request/scenario.hpp"

namespace debubble {

struct Run;

// What the model assumes, for the report; what it leaves out, and what utilisation is counted from, for later.
void add_model_facts(const Scenario& scenario, Run& run);

// After the simulation: as findings what the model leaves out (F030), and devices whose collectives take longer than
// others' because their ranks lie on other wires (F025); and model FLOPs per second over what the devices could do,
// where both are known (Report::mfu).
void add_model_results(Run& run);

}  // namespace debubble
