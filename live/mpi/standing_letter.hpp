// Where a rank stands (live/stall.hpp), as it tells rank 0 and, ended from outside, its user.
#pragma once

#include <string>

#include "live/mpi/letter.hpp"
#include "live/stall.hpp"
#include "sim/core/schedule.hpp"

namespace debubble::live {

void write(LetterWriter& letter, const Standing& standing);
[[nodiscard]] Standing read_standing(LetterReader& letter);
// Throws std::logic_error where it names what the schedule does not have.
void check(const Standing& standing, const Schedule& schedule, std::int32_t device);

// "at 1F2, op 5 of 12 of device 1, waiting for the activation 0F3 of device 0".
[[nodiscard]] std::string place_of(const Schedule& schedule, std::int32_t device, const Standing& standing);

}  // namespace debubble::live
