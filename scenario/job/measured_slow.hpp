// --slow RUN.json: how much slower each device of a measured run is than the others.
#pragma once

#include <string>

#include "scenario/request/scenario.hpp"

namespace debubble {

// Replaces every item of --slow that names a run file by a list with one factor per device: the time that its ops took
// (medians over microbatches and iterations) over what its stages cost by the scenario's profile, model or --times,
// relative to the median device; to three decimals. What all devices share, a profile of another GPU say, cancels out.
// The layers of the run are taken to be cut as the scenario says, `auto` as if all devices were alike.
// Throws InputError: what read_run_file throws, O005 for another number of devices, O030 for a run that tells nothing.
void read_measured_slow(Scenario& scenario);

// What the profile says of the ranks that it was joined from, as one more item; none where they were alike.
void add_rank_speeds(Scenario& scenario, const std::string& file);

}  // namespace debubble
