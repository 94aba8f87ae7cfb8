// Where nothing in a plan's space fits the memory: what is short, and the nearest changes after which something fits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/job/progress.hpp"
#include "sim/analysis/report.hpp"
#include "studies/plan/plan_job.hpp"

namespace debubble {

// Of the plan that lacks least, found by a search for the least memory without the limit and simulated.
struct Shortage {
  PlannedRun run;  // as if there were no limit
  int device = 0;  // that lacks most
  Bytes capacity = 0;
  Bytes margin = 0;               // of it, to stay free
  Bytes reserved = 0;             // what the allocator would take from the device
  BytesByCategory by_category{};  // of what is allocated at its peak

  [[nodiscard]] Bytes missing() const { return reserved + margin - capacity; }
};

// One change of what was asked for, after which something fits: found by a search and simulated.
struct PlanChange {
  enum class Kind {
    kOpen,   // a flag that fixed or forbade is left out, or the same model is computed with less memory
    kBatch,  // fewer samples per step: not the same training
    kMemory,
    kGpus
  };
  Kind kind = Kind::kOpen;
  std::string what;     // "without zero=0", "on 16 GPUs"
  std::string command;  // `debubble plan` with it
  int gpus = 0;
  PlannedRun run;  // the best then, to 5 %
};

struct PlanShortage {
  std::optional<Shortage> shortage;
  // Three at most, best first: kinds in their order, memory and GPUs as one; then the least GPU time for a sample.
  std::vector<PlanChange> changes;
  std::optional<int> enough_gpus;  // the fewest of the multiples that were tried on which something fits
};

// For a space of which a whole search found that nothing in it fits. `seconds`: how long it may take; then what could
// not be found in this time is absent.
// `tight`: runs that only leave too little free, best first.
[[nodiscard]] PlanShortage find_shortage(const PlanJob& asked, const std::vector<PlannedRun>& tight,
                                         std::optional<double> seconds, Progress& progress);

}  // namespace debubble
