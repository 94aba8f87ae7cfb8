// From the flags of a modelled transformer to the profile that everything else works with.
#pragma once

#include "tools/scenario.hpp"

namespace debubble {

struct Run;

// Sets scenario.profile where --model was given; nothing otherwise. Throws InputError where model, split and cluster do
// not fit together.
void set_modelled_profile(Scenario& scenario);

struct ModelledLayers {
  Profile profile;
  Nanoseconds gather = 0;  // with --scatter-gather: the all-gather behind every transfer, before calibration
};

// The same transformer where one device of a pipeline of `devices` would see these wires, which may differ from the
// scenario's: by `place`, the device whose ranks' collectives count. Needs a --model and a --topology.
[[nodiscard]] ModelledLayers modelled_at(const Scenario& scenario, const LinkGraph& graph, int devices, int place);
// The same on ideal links of so many times the bandwidth and latency.
[[nodiscard]] ModelledLayers modelled_on_ideal(const Scenario& scenario, double bandwidth, double latency);

// The hardware that a scenario's transformer runs on: as given, or that of the topology, or an H100.
[[nodiscard]] const Hardware& modelled_hardware(const Scenario& scenario);

// What the model assumes, for the report; what it leaves out, and what utilisation is counted from, for later.
void add_model_facts(const Scenario& scenario, Run& run);

// After the simulation: what the model leaves out, as findings; and model FLOPs per second over what the devices could
// do, where both are known (Report::mfu).
void add_model_results(Run& run);

}  // namespace debubble
