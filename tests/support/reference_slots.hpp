// Which cells of a device stand between two exchanges where transfers are coupled: written from the rules, for the
// reference simulator only.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/support/reference_simulator.hpp"

namespace debubble::reference {

struct DeviceSlots {
  std::vector<std::size_t> slot_of;  // by cell
  std::vector<std::size_t> last;     // by slot: its last cell
};

// By device. Every cell is a slot, but on a device with interleaved stages whose row returns from B to F: there W and R
// belong to the next F, B or I, and B or I to the F before it, unless it is fed by that F over other devices.
[[nodiscard]] std::vector<DeviceSlots> slots_of(const Schedule& schedule, const std::vector<std::vector<Cell>>& cells);

}  // namespace debubble::reference
