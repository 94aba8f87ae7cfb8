#include "live/mpi/gpu_rank.hpp"

#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "live/cpu/calibration.hpp"
#include "live/cuda/issue_order.hpp"
#include "live/cuda/lane.hpp"
#include "live/cuda/stage_work.hpp"
#include "live/job.hpp"
#include "live/mpi/all_or_none.hpp"
#include "live/mpi/gathered.hpp"
#include "live/mpi/nccl_edges.hpp"
#include "live/mpi/nccl_library.hpp"
#include "live/mpi/nccl_program.hpp"
#include "live/mpi/nccl_transport.hpp"
#include "live/mpi/rank_run.hpp"
#include "live/worker.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/median.hpp"

namespace debubble::live {
namespace {

// One GPU with the layers of one rank's stages.
struct RankGpu {
  std::unique_ptr<GpuParts> parts;
  std::unique_ptr<LaneDevice> lane;
  std::unique_ptr<StageWork> work;
  OwnedHandle<cuda::Event> ended;  // recorded after the running op
  Nccl nccl;
};

// Runs a rank's ops on its GPU, one after another, and keeps its transfers going meanwhile.
class GpuWorker final : public Worker {
 public:
  // All must outlive it.
  GpuWorker(const Job& job, std::int32_t device, RankGpu& gpu, NcclTransport& transport);

  // Memory is planned beforehand and counted there (StageWork::peak_memory), so the ledger stays empty.
  void start(Ledger&) override {}
  void begin(const Op& op) override;
  // Tensors are on the GPU, so nothing comes in and nothing goes out here. Throws UnavailableError U057 when the op has
  // not ended after the request's patience, U027 when the GPU fails.
  [[nodiscard]] Payload work(const Op& op, std::span<const std::byte> input) override;
  void end(const Op&) override {}

 private:
  [[nodiscard]] bool has_ended() const;
  [[noreturn]] void refuse_to_wait(const Op& op) const;

  const Job& job_;
  double slowdown_;
  RankGpu& gpu_;
  NcclTransport& transport_;
};

GpuWorker::GpuWorker(const Job& job, std::int32_t device, RankGpu& gpu, NcclTransport& transport)
    : job_(job), slowdown_(job.slowdown(device)), gpu_(gpu), transport_(transport) {}

void GpuWorker::begin(const Op& op) {
  if (job_.has_fault(Fault::Kind::kKill, op)) ::kill(::getpid(), SIGKILL);
}

Payload GpuWorker::work(const Op& op, std::span<const std::byte>) {
  const Nanoseconds begin = steady_time();
  gpu_.lane->enter();
  gpu_.work->run(op);
  const CudaDriver& driver = gpu_.parts->libraries().driver;
  check_cuda(driver, driver.call.event_record(gpu_.ended.get(), gpu_.lane->stream()), "marking an op's end");
  while (!has_ended()) {
    transport_.poll();
    if (steady_time() - begin > job_.request().patience) refuse_to_wait(op);
  }
  // A `slow` fault.
  const Nanoseconds taken = steady_time() - begin;
  const auto wanted = static_cast<Nanoseconds>(static_cast<double>(taken) * slowdown_);
  while (steady_time() - begin < wanted) transport_.poll();
  return {};
}

bool GpuWorker::has_ended() const {
  const CudaDriver& driver = gpu_.parts->libraries().driver;
  const cuda::Result result = driver.live.event_query(gpu_.ended.get());
  if (result != cuda::kNotReady) check_cuda(driver, result, "an op");
  return result != cuda::kNotReady;
}

void GpuWorker::refuse_to_wait(const Op& op) const {
  const Nanoseconds seconds = job_.request().patience / (1000 * kNanosecondsPerMillisecond);
  throw UnavailableError({"U057", gpu_.lane->facts().name,
                          "the op " + to_string(op) + " has not ended for " + std::to_string(seconds) + " s",
                          "--watchdog SECONDS gives a slow GPU more time"});
}

constexpr int kCalibrationRuns = 5;

void refuse_over_nccl(const LiveRequest& request) {
  std::vector<Diagnostic> problems;
  if (request.p2p != P2p::kOverlapped) {
    problems.push_back({"E003", "--p2p", "over NCCL transfers overlap the work",
                        "--p2p overlapped; on the CPU, --backend mpi and cpu know the others"});
  }
  for (const Fault& fault : request.faults) {
    if (fault.kind != Fault::Kind::kSlow || fault.factor >= 1) continue;
    problems.push_back({"E003", "--fault", "a GPU cannot be made faster than it is",
                        "give slow=" + std::to_string(fault.device) + " a factor of 1 or more"});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

LiveRequest wall_clock_request(LiveRequest request, const StagedModel& model) {
  check_model(model, request.schedule);
  request.costs = memory_costs(model, request.schedule);
  request.clock = Clock::kWall;
  request.hop_latency = 0;  // links are real
  request.hop_bandwidth = 0;
  request.warm_up = std::max(1, request.warm_up);
  return request;
}

const char* const kGpuForEachRank =
    "let the launcher give every rank a GPU of its own (srun --gpus-per-task=1), or make as many visible to all ranks "
    "of a host as there are ranks (CUDA_VISIBLE_DEVICES)";

// A launcher that hands out GPUs leaves each rank one, which is its number 0; otherwise the ranks of a host see the
// same GPUs and take one after the other.
int gpu_of_rank(const MessagePassing& passing, int visible) {
  if (visible == 1) return 0;
  if (visible == 0 || passing.rank_on_host() < visible) return passing.rank_on_host();
  throw UnavailableError({"U021", "--gpus each",
                          std::to_string(visible) + " GPUs are visible to it, for " +
                              std::to_string(passing.ranks_on_host()) + " ranks on this host",
                          kGpuForEachRank});
}

class GpuRank {
 public:
  GpuRank(MessagePassing& passing, ControlChannel& channel, const LiveRequest& request, const StagedModel& model,
          const LiveProgress& progress)
      : passing_(passing),
        channel_(channel),
        progress_(progress),
        model_(model),
        request_(wall_clock_request(request, model)),
        job_(request_) {}

  LiveResult run() {
    if (const IssueOrder order = issue_order(job_); order.stall.has_value()) {
      LiveResult result;
      result.costs = request_.costs;
      result.stall = order.stall;  // known before anything is launched
      result.origin.backend = "mpi+nccl";
      result.origin.clock = "wall";
      result.origin.method = "found before anything was launched";
      return result;
    }
    if (const auto problem = find_nccl_problem(nccl_program(job_.plan()))) throw std::logic_error(*problem);
    all_or_none(passing_, channel_, [this] { open(); });
    refuse_shared_gpus();
    std::optional<NcclEdges> edges;
    all_or_none(passing_, channel_, [&] {
      edges.emplace(gpu_.nccl, *gpu_.parts, gpu_.parts->parts().front(), *gpu_.lane, passing_.rank(), job_.plan());
      edges->exchange_ids(channel_);
    });
    all_or_none_polling(passing_, channel_, [&] { return edges->connect(request_.patience); });
    RankReport report = run_rank(passing_, channel_, job_,
                                 {[&](Mailbox& mailbox) { return work(mailbox, *edges); }, steady_time, true});
    report.outcome.kind == Outcome::Kind::kComplete ? edges->close() : edges->abort();
    return result_from(std::move(report));
  }

 private:
  void open() {
    prepare_cuda_environment(KernelLoading::kEager);  // NCCL's kernels wait on the GPU for other ranks
    gpu_.nccl = load_nccl();
    const auto libraries = load_cuda_libraries();
    gpu_.parts = GpuParts::whole(libraries, {gpu_of_rank(passing_, visible_gpus(libraries->driver))});
    const GpuPart& part = gpu_.parts->parts().front();
    const LiveImages images = compile_live_kernels(*libraries, model_.size.type, gpu_.parts->facts(part).capability);
    gpu_.lane = std::make_unique<LaneDevice>(*gpu_.parts, part, images);
    gpu_.work = std::make_unique<StageWork>(*gpu_.lane, job_.schedule(), passing_.rank(), model_);
    gpu_.ended = gpu_.parts->make_event(part);
  }

  // NCCL takes no two ranks on one GPU, and does not say which they are.
  void refuse_shared_gpus() {
    std::map<std::string, int> ranks;
    std::string shared;
    const std::string own = gpu_.parts->uuid(gpu_.parts->parts().front());
    if (passing_.rank() != 0) channel_.send(0, MessageWriter().text(own));
    for (int rank = 0; passing_.rank() == 0 && rank < passing_.size(); ++rank) {
      const auto [taken, is_new] = ranks.emplace(rank == 0 ? own : channel_.wait(rank).message.text(), rank);
      if (is_new || !shared.empty()) continue;
      shared = "ranks " + std::to_string(taken->second) + " and " + std::to_string(rank) + " have the same GPU, UUID " +
               taken->first;
    }
    all_or_none(passing_, channel_, [&shared] {
      if (!shared.empty()) throw UnavailableError({"U021", "--gpus each", shared, kGpuForEachRank});
    });
  }

  RankResult work(Mailbox& mailbox, NcclEdges& edges) {
    gpu_.lane->enter();
    NcclTransport transport(job_, mailbox, edges, *gpu_.work, *gpu_.lane, steady_time);
    GpuWorker worker(job_, passing_.rank(), gpu_, transport);
    DeviceRunner runner(job_, passing_.rank(), transport, worker, steady_time);
    RankResult result;
    const int iterations = request_.warm_up + request_.repetitions;
    MeasuredTimes times;
    for (int iteration = 0; iteration < iterations; ++iteration) {
      transport.barrier();
      if (iteration == request_.warm_up) {
        tell(iteration, iterations, "calibrating");
        times = calibrated(worker);
        transport.barrier();
      }
      const int counted = iteration - request_.warm_up;
      tell(iteration, iterations, counted < 0 ? "warming up" : "iteration " + std::to_string(counted + 1));
      result.runs.push_back(runner.run(iteration));
      result.runs.back().peak_activation = gpu_.work->peak_activation();
      result.runs.back().peak_memory = gpu_.work->peak_memory();
    }
    transport.barrier();
    const DeviceFacts& facts = gpu_.lane->facts();
    result.more.text(facts.name).text(facts.driver).text(facts.cuda);
    write(result.more, times);
    return result;
  }

  // Every kind of op of this row, the median of several, while the other GPUs do the same.
  MeasuredTimes calibrated(GpuWorker& worker) const {
    MeasuredTimes times;
    for (const Op& op : at(job_.schedule().rows, passing_.rank())) {
      if (times.contains({op.kind, op.stage})) continue;
      std::vector<Nanoseconds> taken;
      for (int turn = 0; turn < kCalibrationRuns; ++turn) {
        const Nanoseconds begin = steady_time();
        (void)worker.work(op, {});
        taken.push_back(steady_time() - begin);
      }
      times[{op.kind, op.stage}] = upper_median(std::move(taken));
    }
    return times;
  }

  void tell(int done, int total, const std::string& what) const {
    if (passing_.rank() == 0 && progress_) progress_(done, total, what);
  }

  LiveResult result_from(RankReport report) {
    std::vector<MeasuredTimes> times;
    RunOrigin origin{"mpi+nccl", "wall", "", "", "", "", "", "", "", "", {}};
    for (MessageReader& reader : report.more) {
      origin.device = reader.text();
      origin.driver = reader.text();
      origin.cuda = reader.text();
      reader.into(times.emplace_back());
    }
    LiveResult result = result_of(job_, std::move(report));
    if (!times.empty()) result.costs = measured_costs(job_, times);
    origin.libraries = std::string(passing_.library()) + ", NCCL " + gpu_.nccl.version;
    origin.method =
        "one MPI rank and GPU per device; std::chrono::steady_clock from an op's launch to its end on the GPU, "
        "aligned to rank 0's by round trips; a transfer counts from when both ends were there";
    origin.notes.emplace_back("payload checksums were taken in the first iteration, which is not counted");
    result.origin = std::move(origin);
    result.hop_bandwidth = bandwidth_of(result);
    result.assumptions.push_back({"op times", "calibrated with all GPUs at work", Source::kMeasured});
    result.assumptions.push_back({"links", "the median of the run's own transfers", Source::kMeasured});
    return result;
  }

  // Bytes per second of the median transfer; 0 where none was seen.
  static std::int64_t bandwidth_of(const LiveResult& result) {
    std::vector<std::int64_t> rates;
    for (const RunIteration& iteration : result.iterations) {
      for (const Transfer& transfer : iteration.timeline.transfers) {
        const Nanoseconds taken = transfer.end - transfer.begin;
        if (taken > 0 && transfer.bytes > 0) {
          rates.push_back(
              static_cast<std::int64_t>(static_cast<double>(transfer.bytes) * 1e9 / static_cast<double>(taken)));
        }
      }
    }
    return upper_median(std::move(rates));
  }

  MessagePassing& passing_;
  ControlChannel& channel_;
  const LiveProgress& progress_;
  StagedModel model_;
  LiveRequest request_;
  Job job_;
  RankGpu gpu_;
};

}  // namespace

LiveResult run_gpu_ranks(MessagePassing& passing, ControlChannel& channel, const LiveRequest& request,
                         const CudaOptions& model, const LiveProgress& progress) {
  refuse_over_nccl(request);
  return GpuRank(passing, channel, request, {model.shape, model.partition, model.size}, progress).run();
}

}  // namespace debubble::live
