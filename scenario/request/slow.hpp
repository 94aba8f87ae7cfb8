// --slow: what takes longer (or, below 1, less long) than its stages cost.
//
//     device=3:1.25        stage=0:1.1        replica=7:1.3        device=0-3:1.1
//     devices=1,1,1.25,1   one factor for each: heterogeneous devices
//     run.json             a measured run: its devices (scenario/job/measured_slow.hpp)
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/core/error.hpp"

namespace debubble {

struct SlowItem {
  enum class What { kDevice, kStage, kReplica };
  What what = What::kDevice;
  // The list form names all of them; otherwise `first` to `last` take factors.front().
  bool list = false;
  int first = 0;
  int last = 0;
  std::vector<double> factors;
  std::string text;  // as typed; of a run file the list that it came to
  std::string file;  // a measured run, whose factors are read with the rest of the scenario; empty: none
  // Of the ranks that the profile was joined from: it holds where there are as many devices, in addition to the others.
  bool of_profile = false;
};

// Throws InputError C002, C006 and C012 with everything that is wrong with the items.
[[nodiscard]] std::vector<SlowItem> parse_slow(const std::vector<std::string>& texts);

// Whether it is of the profile's ranks, and there are as many devices.
[[nodiscard]] bool holds_for(const SlowItem& item, int devices);

// One factor for each of `count`; empty where no item speaks of them. What does not fit goes to `problems` (O004,
// O005, C007).
[[nodiscard]] std::vector<double> slow_factors(const std::vector<SlowItem>& items, SlowItem::What what, int count,
                                               std::vector<Diagnostic>& problems);

}  // namespace debubble
