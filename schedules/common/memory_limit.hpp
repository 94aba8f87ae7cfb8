// memory_limit: what people write for `--param memory_limit=`, as bytes that each device may fill with activations.
//
//     4, 4.5          activations of one device share (PlanningCosts::activation_unit), on every device
//     1p, 1.5p, 2p    the same times p: what 1F1B holds on its first device, half as much again, twice as much
//     8,6,6,4         one number per device, in any of these forms
//     76GiB, 80GB     all memory of a device: its weights, gradients and other fixed state stay outside the activations
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schedules/common/contract.hpp"

namespace debubble {

struct MemoryLimit {
  std::string text;                // as given or by default
  std::vector<Bytes> activations;  // by device
  bool sized = false;              // one of them has a unit
  std::vector<bool> sized_on;      // by device
};

// The parameter `memory_limit` of the request, or `fallback`. Throws InputError (S006, S042, S062) for what is no
// limit, a list of another length than p, and a size that the fixed state already exceeds.
[[nodiscard]] MemoryLimit memory_limit_of(const ScheduleRequest& request, const PlanningCosts& costs,
                                          std::string_view fallback);

// The unit of limits without one, of all stages' activations together.
void set_activation_unit(PlanningCosts& costs, Bytes all_stages, int devices);

// Refuses (S042) a limit with which the schedule does not work. `needed`: bytes of activations per device with which it
// does. Names that limit in the form the person used, after `flag`.
[[noreturn]] void refuse_memory_limit(const std::string& schedule, const MemoryLimit& limit, const PlanningCosts& costs,
                                      const std::vector<Bytes>& needed, const std::string& flag = "--param ");

}  // namespace debubble
