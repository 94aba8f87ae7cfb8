// The changes that are tried on a step, as runs to be made when their turn comes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "studies/explain/improvements.hpp"

namespace debubble {

struct Trial {
  // Of each kind the best one is shown.
  enum class Kind {
    kMicrobatches,
    kSchedule,
    kScheduleAtAPrice,  // more memory, more weights
    kChunks,
    kOverlap,
    kPartition,
    kSlowDevices,  // layers moved away from what is slow
    kRecompute,
    kGradReduce,
    kNorm,
    kLinks,
    kContention,
    kBalance,
    kStragglers,
    kStepCollectives,
    kInsideCollectives,
    kOptimizer,
    kCompute
  };
  Kind kind = Kind::kSchedule;
  std::string what;
  std::string price;             // other than memory, which is seen
  std::string command;           // empty: no flags ask for it
  std::function<Report()> make;  // throws InputError where it is not to be had
  // Of a schedule: those of kFrameworks that do that run today. Empty function: nothing to tell.
  std::function<std::vector<std::string>(const Report&)> frameworks{};
};

// `base` must outlive them.
[[nodiscard]] std::vector<Trial> trials_for(const ImprovementBase& base);

}  // namespace debubble
