// --partition memory: the cut of the layers that minds what each device has room for
// (cost_models/memory_partition.hpp).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cost_models/memory_partition.hpp"
#include "cost_models/profiled.hpp"
#include "scenario/job/job.hpp"
#include "scenario/request/scenario.hpp"
#include "sim/core/schedule.hpp"

namespace debubble {

inline constexpr const char* kMemoryCut = "memory";

// As they are on each stage.
struct LayersToCut {
  std::vector<const Profile*> by_stage;
  TrainingState state;
  std::vector<int> balanced;  // layers per stage
};

// What the order of the schedule holds has room on every device, besides what scenario.partition.set_aside sets aside.
// Throws InputError C004 where nothing says how much memory there is, C087 where activations leave the devices
// meanwhile, S063 for too many layers.
[[nodiscard]] MemoryCut cut_for_memory(const Scenario& scenario, const Schedule& schedule, const LayersToCut& layers);

// The first of these.
[[noreturn]] void refuse_unknown_room();

// A job and what its cut needs of each device.
struct CutJob {
  Job job;
  MemoryCut cut;
};

// Of a scenario with --partition memory. The cut knows what the order holds; received tensors that wait, and what an
// allocator rounds up and cannot use, are known from a simulation only (of one replica whose ops do not vary): what a
// device lacks there is set aside, and the layers are cut again, until all fits or no cut does.
[[nodiscard]] Job fit_job(const Scenario& scenario, const std::function<CutJob(const Scenario&)>& made);

}  // namespace debubble
