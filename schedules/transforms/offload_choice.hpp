// Which activations leave a device so that it holds no more than a level.
//
//     1f1b, p = 4, device 0     row    0F3  0B0  0F4  0B1  0F5  0B2        0F3 would make 4; for a level of 3
//     level 3                   away   1    1    3    3    3    3          1 leaves, and 3 once 1 is due back
//
// Wherever a cell would hold more, that one leaves whose use is furthest ahead (Belady's rule). So those leave that
// lower the peak, all along the row, and not the longest stays alone: those of 1F1B are all at its begin.
#pragma once

#include <vector>

#include "schedules/common/copy_plan.hpp"

namespace debubble {

class OffloadChoice {
 public:
  // `stays`: those that may leave.
  OffloadChoice(const Schedule& schedule, const PlanningCosts& costs, const ListTiming& timing, int device,
                const std::vector<Stay>& stays);

  // The most that any cell holds when nothing leaves.
  [[nodiscard]] Bytes peak() const;
  // Those that leave for this level, as if the copy lane were free for each of them.
  [[nodiscard]] std::vector<Stay> above(Bytes level) const;

 private:
  struct Candidate {
    Stay stay;
    std::size_t begin = 0;  // the row positions between which it can be away
    std::size_t end = 0;
    Bytes bytes = 0;
  };

  std::vector<Bytes> held_;            // by row position, when its cell begins
  std::vector<Candidate> candidates_;  // in order of `begin`
};

}  // namespace debubble
