// Which device runs which stage, and where to cut: the shortest simulated step of 1F1B, devices and links as they are.
//
//     devices   fast fast slow      stages  [0,4) [4,8) [8,9)     on devices 0, 2, 1: an order of the devices
//               a slow one may be left idle, where the others are quicker without it
//
// Every order and every cut is tried in turn, and left as soon as what is placed cannot end within the best step so
// far: stage s does all its work after the forwards of the stages before it and before their backwards, and the devices
// that are left share the layers that are left. Where that takes too many steps, what was found first is improved by
// exchanging devices and moving cuts; it is never worse than the devices in the order given.
#pragma once

#include <cstdint>

#include "studies/planners/contract.hpp"
#include "studies/planners/regret.hpp"

namespace debubble {

struct PlacementOptions {
  bool given_order = false;           // stage s on the s-th of the devices that are used
  std::int64_t most_steps = 100'000;  // places tried in the exact search, of all numbers of stages together
  std::int64_t most_ops = 8'000'000;  // simulated ops, in total
};

struct DevicePlacement {
  std::vector<PlannerStage> stages;  // one device each
  DecisionWorth worth;
  bool exact = false;  // no order and no cut is better
};

// `stages`: so many; 0: any number of them. Throws InputError Z002 where nothing that was tried fits.
[[nodiscard]] DevicePlacement place_stages(const PlannerJob& job, int stages, const PlacementOptions& options = {});

}  // namespace debubble
