// --partition auto: the layers cut for devices that are not alike.
#pragma once

#include <optional>
#include <vector>

#include "scenario/request/scenario.hpp"
#include "sim/core/schedule.hpp"

namespace debubble {

// The cut whose slowest stage is fastest when each layer takes what it takes where it would lie: as often as long as
// --slow says of that device and that stage, with the collectives of its ranks over that device's own links; and its
// stage's transfers as far as partition.transfers_counted says. `profile`: the layers to cut. Nothing where all devices
// and stages are alike.
[[nodiscard]] std::optional<std::vector<int>> cut_for_devices(const Scenario& scenario, const Schedule& schedule,
                                                              const Profile& profile);

}  // namespace debubble
