// Variation: how the durations of one run differ from what its stages cost on average: slow devices, long sequences,
// noise. Everything is a factor; the same seed gives the same run on any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/op.hpp"
#include "sim/core/step_work.hpp"
#include "sim/core/units.hpp"

namespace debubble {

struct Variation {
  // Each table is empty (all 1) or full.
  std::vector<double> device;            // by device of the pipeline
  std::vector<double> stage;             // by stage
  std::vector<double> piece;             // by microbatch piece: sequence lengths, expert imbalance
  std::vector<double> pipeline_replica;  // by data-parallel replica of the pipeline
  // Sigma of the logarithm of a factor with median 1, drawn for every op and step task on a compute lane; 0: none.
  double jitter = 0;
  std::uint64_t seed = 1;

  [[nodiscard]] bool none() const {
    return device.empty() && stage.empty() && piece.empty() && pipeline_replica.empty() && jitter == 0;
  }
  // Whether the data-parallel replicas of the pipeline run at different times.
  [[nodiscard]] bool replicas_differ() const { return !pipeline_replica.empty() || jitter != 0; }
  // What `op` takes on `device` in that pipeline replica, as a factor. Pure: jitter is a hash of seed, replica and op.
  [[nodiscard]] double factor(std::int32_t replica, std::int32_t device_index, const Op& op) const;
  // The same of a step task on the compute lanes of its devices, alike in all replicas: the factor of the one that
  // takes longest. Of the tables only `device` and `pipeline_replica` count: a task belongs to no microbatch, and what
  // makes a stage's ops slow says nothing about its optimizer. Jitter is a hash of seed, replica, kind and device, so
  // that a step with further tasks draws the same. Tasks on the collective lane have none: what varies about them
  // is when their ranks get there. `replicas`: how many take part, from `first_replica` on.
  [[nodiscard]] double task_factor(const StepTask& task, std::int32_t first_replica, std::int32_t replicas) const;
  // base * factor, rounded to the nearest nanosecond; base itself where nothing varies.
  [[nodiscard]] Nanoseconds apply(Nanoseconds base, std::int32_t replica, std::int32_t device_index,
                                  const Op& op) const;
};

}  // namespace debubble
