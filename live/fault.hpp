// What faults do to a schedule before it runs.
#pragma once

#include <cstddef>

#include "live/live.hpp"
#include "sim/core/schedule.hpp"

namespace debubble::live {

// The place, in its device's row, of the op that a `swap` fault has change places with the op after it. Earlier swaps
// may have moved it. Throws InputError E002 when it has no single op after it.
[[nodiscard]] std::size_t place_to_swap(const Fault& fault, const Schedule& schedule);

}  // namespace debubble::live
