// From the flags of a modelled transformer to the profile that everything else works with.
#pragma once

#include "tools/scenario.hpp"

namespace debubble {

struct Run;

// Sets scenario.profile where --model was given; nothing otherwise. Throws InputError where model, split and cluster do
// not fit together.
void set_modelled_profile(Scenario& scenario);

// The hardware that a scenario's transformer runs on: as given, or that of the topology, or an H100.
[[nodiscard]] const Hardware& modelled_hardware(const Scenario& scenario);

// What the model assumes, for the report; what it leaves out, and what utilisation is counted from, for later.
void add_model_facts(const Scenario& scenario, Run& run);

// After the simulation: what the model leaves out, as findings; and model FLOPs per second over what the devices could
// do, where both are known (Report::mfu).
void add_model_results(Run& run);

}  // namespace debubble
