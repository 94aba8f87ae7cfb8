// IssueOrder: the order in which one host thread gives all devices their work: every action after those that it waits
// for. A schedule for which there is none deadlocks, which is known before anything is launched.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "live/job.hpp"
#include "live/live.hpp"

namespace debubble::live {

struct IssueStep {
  std::int32_t device = 0;
  std::int32_t action = 0;  // into Plan::devices[device]
};

struct IssueOrder {
  std::vector<IssueStep> steps;  // as far as they can be reached
  std::optional<Stall> stall;    // some cannot be
};

// Devices take turns, one action each. For plans of overlapped and of blocking transfers.
[[nodiscard]] IssueOrder issue_order(const Job& job);

}  // namespace debubble::live
