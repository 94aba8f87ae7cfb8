// The variation that the flags mean for one schedule.
#pragma once

#include <string>
#include <vector>

#include "scenario/request/variation_flags.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/variation.hpp"

namespace debubble {

// Says in `assumptions` what varies. Throws InputError, with everything that is wrong, for a device, stage, replica or
// microbatch that the run does not have.
[[nodiscard]] Variation make_variation(const VariationScenario& scenario, const Schedule& schedule,
                                       int pipeline_replicas, std::vector<Assumption>& assumptions);

// The same without the words, for another seed.
[[nodiscard]] Variation make_variation(const VariationScenario& scenario, const Schedule& schedule,
                                       int pipeline_replicas);

// Throws InputError C087 where the flags ask for what `who` cannot do.
void refuse_variation(const VariationScenario& scenario, const std::string& who);

}  // namespace debubble
