// Steps by which random_schedule_with (random_case.hpp) adds what a schedule may hold beside F, B, I and W. Internal to
// tests/support.
#pragma once

#include "tests/support/random_case.hpp"

namespace debubble::testing {

// Several pieces per microbatch, all on its replica; slices, shares.
void cut_pieces(Schedule& schedule, const Features& features, Dice& dice);

void keep_one_replica(Schedule& schedule);

// An R in front of about every second backward.
void add_recomputes(Schedule& schedule, Dice& dice);

// Copies of about every second activation.
void add_copies(Schedule& schedule, Dice& dice);

}  // namespace debubble::testing
