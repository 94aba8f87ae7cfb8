// From what the processes wrote to the result of a run.
#pragma once

#include <string>
#include <vector>

#include "live/backends.hpp"
#include "live/job.hpp"
#include "live/torch/rank_records.hpp"

namespace debubble::live {

// `ranks`: by device. Throws WrongDataError where bytes changed on their way, or gradients are not those of the unsplit
// model, or not the same in every iteration; InputError (V020, V023, G002) where the records are not of this job's
// schedule.
[[nodiscard]] LiveResult torch_result(const Job& job, const TorchOptions& options, const std::vector<TorchRank>& ranks);

}  // namespace debubble::live
