// A training step to be planned: a schedule of the catalog, ideal links, and bytes.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "cost_models/step/step_work.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/assumption.hpp"

namespace debubble::tests {

constexpr Bytes kWeights = 1'000'000'000;

struct Case {
  Schedule schedule;
  Topology topology = Topology::ideal(10'000, 25'000'000'000);
  StepRequest request;
  std::vector<Assumption> assumptions;

  Case(const std::string& name, int devices, int microbatches, int chunks = 0) {
    ScheduleRequest wanted;
    wanted.devices = devices;
    wanted.microbatches = microbatches;
    wanted.chunks = chunks;
    schedule = build_schedule(name, wanted);
    request.parallel.pipeline = devices;
  }
  // bf16 weights, fp32 gradients, fp32 master weights and two moments: 2, 4 and 12 bytes of a number.
  void give_bytes() {
    request.stages.assign(static_cast<std::size_t>(schedule.stages), {kWeights, 2 * kWeights, 6 * kWeights, 0, 0, 0});
  }
  StepWork make() {
    request.schedule = &schedule;
    request.topology = &topology;
    return make_step_work(request, assumptions);
  }
};

inline std::vector<StepTask> of_kind(const StepWork& work, StepTask::Kind kind) {
  std::vector<StepTask> found;
  std::copy_if(work.tasks.begin(), work.tasks.end(), std::back_inserter(found),
               [&](const StepTask& task) { return task.kind == kind; });
  return found;
}

inline std::int32_t first_of(const StepWork& work, StepTask::Kind kind) {
  const auto found =
      std::find_if(work.tasks.begin(), work.tasks.end(), [&](const StepTask& task) { return task.kind == kind; });
  return static_cast<std::int32_t>(found - work.tasks.begin());
}

inline void check_close(Nanoseconds planned, double seconds, double slack = 2) {
  CHECK(static_cast<double>(planned) >= seconds * 1e9 - slack);
  CHECK(static_cast<double>(planned) <= seconds * 1e9 + slack);
}

// Whether a task comes after another, by any number of steps.
inline bool follows(const StepWork& work, std::int32_t task, std::int32_t other) {
  const std::vector<std::int32_t>& after = work.tasks[static_cast<std::size_t>(task)].after;
  return std::any_of(after.begin(), after.end(),
                     [&](std::int32_t before) { return before == other || follows(work, before, other); });
}

}  // namespace debubble::tests
