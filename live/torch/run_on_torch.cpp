#include <optional>
#include <string>
#include <vector>

#include "live/backends.hpp"
#include "live/job.hpp"
#include "live/torch/interpreter.hpp"
#include "live/torch/plan_text.hpp"
#include "live/torch/processes.hpp"
#include "live/torch/rank_records.hpp"
#include "live/torch/run_folder.hpp"
#include "live/torch/torch_result.hpp"
#include "live/torch/watch.hpp"
#include "sim/core/error.hpp"

namespace debubble::live {

namespace {

// What the Job's own refusals leave over.
void refuse_on_torch(const LiveRequest& request) {
  const Schedule& schedule = request.schedule;
  std::string what;
  if (schedule.asynchrony) what = "updates weights while microbatches are under way";
  if (schedule.sliced) what = "slices sequences";
  if (!what.empty()) {
    fail("E040", schedule.name, "this schedule " + what + ", which --backend torch cannot do",
         "run it with --backend cpu, or take a schedule without that");
  }
  if (request.p2p != P2p::kOverlapped) {
    fail("E003", "--p2p", "PyTorch's isend and irecv overlap the work",
         "leave it out; the backends cpu and mpi know the others");
  }
  for (const Fault& fault : request.faults) {
    if (fault.kind != Fault::Kind::kSlow || fault.factor >= 1) continue;
    fail("E003", "--fault slow", "real ops cannot be made faster than they are", "give a factor of at least 1");
  }
}

std::vector<TorchRank> read_ranks(const RunFolder& folder, int devices) {
  std::vector<TorchRank> ranks;
  for (int rank = 0; rank < devices; ++rank) {
    const std::string name = "rank" + std::to_string(rank) + ".txt";
    ranks.push_back(read_torch_rank(folder.read(name), name));
  }
  return ranks;
}

}  // namespace

LiveResult run_on_torch(const LiveRequest& request, const TorchOptions& options, const LiveProgress& progress) {
  refuse_on_torch(request);
  LiveRequest costed = request;
  costed.recomputes = true;
  costed.costs = {};
  costed.costs.stages.resize(static_cast<std::size_t>(request.schedule.stages));  // they are measured
  const Job job(costed);

  const HeldSignals signals;
  const std::string python = python_with_torch();
  const RunFolder folder;
  const int devices = request.schedule.devices;
  folder.write("plan.txt", torch_plan(job, options, 1 + request.warm_up + request.repetitions));
  write_status_file(folder, devices);
  Processes processes(python, options.package, folder.path().string(), devices);
  LiveResult result;
  result.stall = watch(job, processes, folder, progress);
  if (result.stall || HeldSignals::received() != 0) return result;
  return torch_result(job, options, read_ranks(folder, devices));
}

}  // namespace debubble::live
