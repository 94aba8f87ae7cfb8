// Calibration: how large the work must be to take its cost on this machine, and how long it then really takes.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "live/cpu/cpu_worker.hpp"
#include "live/job.hpp"

namespace debubble::live {

// The shape of a run's work: the buffers of all devices fit the request's budget together, matmuls are large where
// ops are long. With given durations the work is a token of a few thousand multiplications, in small buffers.
[[nodiscard]] WorkShape choose_shape(const Job& job);

// By op kind and stage: nanoseconds of one piece, the median of several runs.
using MeasuredTimes = std::map<std::pair<OpKind, std::int32_t>, Nanoseconds>;

// Sizes the worker's ops so that they take their costs by `clock`, in a few rounds, then measures them. Runs every
// (kind, stage) of the device's row, of long ops a part that is stretched to the whole: it takes about a second for a
// stage, however long its ops are. For the thread of that device; all devices should do so at the same time, for
// that is how they will run.
[[nodiscard]] MeasuredTimes calibrate(const Job& job, std::int32_t device, CpuWorker& worker,
                                      const std::function<Nanoseconds()>& clock);

// The request's costs with what the devices measured in their places; a stage that several replicas run gets the mean.
// Pairs run one member after the other, so the pair's own duration goes.
[[nodiscard]] StageCosts measured_costs(const Job& job, const std::vector<MeasuredTimes>& devices);

}  // namespace debubble::live
