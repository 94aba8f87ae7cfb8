// Random plans for property tests: small jobs of every kind that `debubble plan` takes, named by their seed.
#pragma once

#include <string>

#include "studies/plan/plan_job.hpp"
#include "tests/support/random_case.hpp"

namespace debubble::testing {

// Models (dense, with experts) of random sizes, or a measured profile of uneven layers, on 1 to 64 GPUs of any kind
// and topology; transfers, training step, network and memory limit at random. A profile is written to `file`. Throws
// InputError where the flags do not go together.
[[nodiscard]] PlanJob random_plan(Dice& dice, const std::string& file);

// The same on 2 to 8 GPUs, with so little left open that all of it can be simulated.
[[nodiscard]] PlanJob random_small_plan(Dice& dice, const std::string& file);

// Uneven layers with whole or split backwards, as a file that --profile reads.
void write_uneven_profile(Dice& dice, const std::string& file);

}  // namespace debubble::testing
