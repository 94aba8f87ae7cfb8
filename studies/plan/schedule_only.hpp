// plan --schedule-only: the best order for a pipeline that is given: its stages, links and memory limit, device by
// device. Every row of the catalog with a flush is simulated, and so is the order that `optimal` searches for, with the
// proof of how good that is. All of them are held to the same limit on the activations of each device, or on all of its
// memory where the limit has a unit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/check_scenario.hpp"
#include "scenario/job/progress.hpp"
#include "sim/analysis/report.hpp"

namespace debubble {

struct ScheduleTrial {
  std::string schedule;
  int chunks = 1;  // stages per device
  Report report;   // without result where `why` says so
  bool fits = false;
  bool same = true;     // it runs whole microbatches through one copy of the given stages, or parts of these
  std::string why;      // it does not run or fit: the reason; else empty
  std::string needs;    // what it costs apart from time; may be empty
  std::string proof;    // of `optimal`: how good its order is, in its words
  std::string command;  // that simulates it
};

struct SchedulePlan {
  std::string limit;  // as --param memory_limit takes it
  int devices = 0, microbatches = 0;
  std::vector<ScheduleTrial> trials;  // fastest first; what does not fit or run last

  // The fastest of those that fit and are `same`; there is one.
  [[nodiscard]] const ScheduleTrial& best() const;
};

// `memory_limit` is the one of --param, or 1p. Throws InputError: what check_scenario throws, S006, S042 and S062 for
// limits that are none or that no order keeps, C087 for transforms.
[[nodiscard]] SchedulePlan plan_schedule(const ScenarioFlags& flags, Progress& progress);

}  // namespace debubble
