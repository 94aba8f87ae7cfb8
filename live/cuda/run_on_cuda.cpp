#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "live/backends.hpp"
#include "live/cuda/calibration.hpp"
#include "live/cuda/evidence.hpp"
#include "live/cuda/executor.hpp"
#include "live/cuda/issue_order.hpp"
#include "live/cuda/stage_layers.hpp"
#include "sim/core/error.hpp"

namespace debubble::live {
namespace {

constexpr int kLeastWarmUp = 3;
constexpr int kMostWarmUp = 300;
constexpr Nanoseconds kBusyBefore = 1'000'000'000;  // until a GPU's clock has settled
constexpr std::int64_t kSettledWithin = 3;          // per cent, of the last three iterations

void refuse_what_cannot_be(const LiveRequest& request) {
  std::vector<Diagnostic> problems;
  if (request.p2p != P2p::kOverlapped) {
    problems.push_back({"E023", "--p2p", "transfers between the parts of a GPU run beside the work",
                        "--p2p overlapped; the backends cpu and mpi know the others"});
  }
  for (const Fault& fault : request.faults) {
    if (fault.kind != Fault::Kind::kKill) continue;
    problems.push_back({"E024", "--fault", "the backend cuda runs all devices in one process: none can be killed alone",
                        "--backend mpi has one process per device"});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

StageCosts memory_costs(const StagedModel& model, const Schedule& schedule) {
  WorkloadSize piece = model.size;
  piece.microbatch /= schedule.pieces;
  const StageLayers layers(model.shape, shard_of(model.shape, piece), model.partition);
  StageCosts costs;
  for (std::int32_t stage = 0; stage < schedule.stages; ++stage) {
    StageCost cost = layers.memory(stage);
    for (Bytes* size : {&cost.activation, &cost.weight_grad_held, &cost.output, &cost.workspace}) {
      *size *= schedule.pieces;
    }
    costs.stages.push_back(cost);
  }
  return costs;
}

std::string mebibytes(Bytes bytes) { return std::to_string((bytes + kMebibyte / 2) / kMebibyte) + " MiB"; }

std::string rate(std::int64_t bytes_per_second) {
  if (bytes_per_second == 0) return "faster than can be told from its size";
  return std::to_string(bytes_per_second / 1'000'000) + " MB/s";
}

// All of one run, in the order of making; destroyed backwards.
class CudaRun {
 public:
  CudaRun(const LiveRequest& request, const CudaOptions& options, const LiveProgress& progress)
      : options_(options),
        progress_(progress),
        model_{options.shape, options.partition, options.size},
        request_(request) {
    check_model(model_, request.schedule);
    request_.costs = memory_costs(model_, request.schedule);
    job_.emplace(request_);
    order_ = issue_order(*job_);
    result_.costs = request_.costs;
    result_.clocks.method = "one clock";
  }

  // Whether the schedule can run at all; if not, the result says why.
  [[nodiscard]] bool can_run() const { return !order_.stall.has_value(); }

  void start() {
    tell(0, "starting");
    const auto libraries = load_cuda_libraries();
    const int devices = request_.schedule.devices;
    if (options_.one_gpu_each) {
      std::vector<int> gpus(static_cast<std::size_t>(devices));
      std::iota(gpus.begin(), gpus.end(), 0);
      parts_ = GpuParts::whole(libraries, gpus);
    } else {
      parts_ = GpuParts::split(libraries, options_.gpu, devices);
    }
    const LiveImages images =
        compile_live_kernels(*libraries, options_.size.type, parts_->facts(parts_->parts().front()).capability);
    for (int device = 0; device < devices; ++device) {
      const auto index = static_cast<std::size_t>(device);
      lanes_.push_back(std::make_unique<LaneDevice>(*parts_, parts_->parts()[index], images));
      works_.push_back(std::make_unique<StageWork>(*lanes_[index], job_->schedule(), device, model_));
    }
    executor_.emplace(*job_, order_, *parts_, lanes_, works_);
    describe(*libraries);
  }

  // False: stalled.
  bool verify_and_warm_up() {
    // Launched one by one first, so that all kernels are loaded before any graph is captured.
    for (int graph = 0; graph <= (options_.graph ? 1 : 0); ++graph) {
      tell(0, "checking every payload");
      if (!iterate({graph == 1, true})) return false;
      check_payloads(*job_, *executor_);
    }
    std::vector<Nanoseconds> lengths;
    Nanoseconds busy = 0;
    for (int turn = 0; turn < kMostWarmUp; ++turn) {
      const bool enough = turn >= std::max(kLeastWarmUp, request_.warm_up) && busy >= kBusyBefore && settled(lengths);
      if (enough) return true;
      tell(0, "warming up");
      if (!iterate({options_.graph, false})) return false;
      lengths.push_back(timeline().makespan);
      busy += lengths.back();
    }
    result_.origin.notes.push_back("the last iterations of the warm-up still differed by more than " +
                                   std::to_string(kSettledWithin) + " %");
    return true;
  }

  void calibrate_costs() {
    tell(0, "calibrating");
    const Calibration found = calibrate(*job_, *parts_, lanes_, works_, *executor_);
    for (std::size_t stage = 0; stage < found.busy.stages.size(); ++stage) {
      StageCost& cost = result_.costs.stages[stage];
      const StageCost& time = found.busy.stages[stage];
      cost.forward = time.forward;
      cost.backward = time.backward;
      cost.input_grad = time.input_grad;
      cost.weight_grad = time.weight_grad;
    }
    result_.hop_latency = found.hop_latency;
    result_.hop_bandwidth = found.hop_bandwidth;
    executor_->set_costs(result_.costs);
    assume("op times, all devices at work", costs_text(found.busy));
    assume("op times, each device alone", costs_text(found.alone));
    assume("all at work over alone", interference_text(found));
    assume("transfer", std::to_string(found.hop_latency) + " ns from op to op, then " + rate(found.hop_bandwidth) +
                           " with all devices at work, " + rate(found.bandwidth_alone) + " alone");
    offsets_ = found.offsets;
    if (!offsets_.empty()) {
      result_.clocks = {"one word of host memory, seen by all GPUs", found.clock_residual, offsets_};
    }
    assume("step of the GPU's clock", std::to_string(found.clock_step) + " ns");
  }

  void measure() {
    for (int turn = 0; turn < request_.repetitions; ++turn) {
      tell(turn, "iteration " + std::to_string(turn));
      if (!iterate({options_.graph, false})) return;
      RunIteration iteration;
      iteration.timeline = timeline();
      for (const auto& work : works_) {
        iteration.peak_activation.push_back(work->peak_activation());
        iteration.peak_memory.push_back(work->peak_memory() + kGemmWorkspace);
      }
      result_.iterations.push_back(std::move(iteration));
    }
    result_.tensors_checked = checked_;
    note_launches();
    tell(total(), "done");
  }

  LiveResult finish() {
    if (order_.stall) result_.stall = order_.stall;
    return std::move(result_);
  }
  [[nodiscard]] bool is_lost() const { return executor_ && executor_->is_lost(); }

 private:
  [[nodiscard]] int total() const { return std::max(1, request_.repetitions); }
  void tell(int done, const std::string& what) const {
    if (progress_) progress_(done, total(), what);
  }

  void assume(const std::string& what, const std::string& value) {
    result_.assumptions.push_back({what, value, Source::kMeasured});
  }

  [[nodiscard]] static bool settled(const std::vector<Nanoseconds>& lengths) {
    if (lengths.size() < 3) return false;
    const auto [least, most] = std::minmax_element(lengths.end() - 3, lengths.end());
    return (*most - *least) * 100 <= kSettledWithin * *least;
  }

  // One iteration with its chains checked; false when it got stuck.
  bool iterate(const Executor::Mode& mode) {
    const std::int32_t number = iterations_++;
    result_.stall = executor_->run(number, mode);
    if (result_.stall) return false;
    const std::int64_t checked = check_chains(*job_, *executor_, number);
    if (!mode.payloads) checked_ += checked;
    return true;
  }

  [[nodiscard]] Timeline timeline() const {
    return assemble_timeline(job_->schedule(), observe(*job_, *executor_, works_.front()->payload_bytes(), offsets_));
  }

  void describe(const CudaLibraries& libraries) {
    const DeviceFacts& facts = lanes_.front()->facts();
    RunOrigin& origin = result_.origin;
    origin.backend = "cuda";
    origin.clock = "gpu";
    origin.device = facts.name;
    origin.driver = facts.driver;
    origin.cuda = facts.cuda;
    origin.libraries = "cuBLASLt " + std::to_string(libraries.cublaslt.version) + ", NVRTC " +
                       cuda_version_text(libraries.nvrtc.version);
    origin.method =
        std::string(options_.graph ? "the whole iteration as one CUDA graph"
                                   : "launched one by one behind a gate, which opens once all is launched") +
        "; one-thread kernels read the GPU's clock before and after each op and transfer";
    origin.notes = parts_->notes();
    origin.notes.push_back("payload checksums were taken in one iteration before the others, which is not counted");
    Bytes buffers = 0;
    Bytes gaps = 0;
    for (const auto& work : works_) {
      buffers = std::max(buffers, work->transfer_buffers());
      gaps = std::max(gaps, work->arena_gaps());
    }
    origin.notes.push_back("every tensor that travels has buffers of its own, at most " + mebibytes(buffers) +
                           " on a device; peak_memory counts them, and cuBLASLt's " + mebibytes(kGemmWorkspace));
    if (gaps > 0) origin.notes.push_back("gaps between buffers take at most " + mebibytes(gaps) + " more");
  }

  void note_launches() {
    std::string text = std::to_string(executor_->launches()) + " launches per iteration";
    if (options_.graph) {
      text += ", " + std::to_string(executor_->graph_nodes()) + " nodes of one graph";
    } else if (executor_->gate_opened_early()) {
      text += ": more than a stream holds back (" + std::to_string(Gate::kMostWaiting) +
              "), so the gate opened before all was launched; where the GPU caught up with the host, launching shows";
    }
    result_.origin.notes.push_back(text);
  }

  const CudaOptions& options_;
  const LiveProgress& progress_;
  StagedModel model_;
  LiveRequest request_;  // with the costs of memory
  std::optional<Job> job_;
  IssueOrder order_;
  LiveResult result_;
  std::unique_ptr<GpuParts> parts_;
  Lanes lanes_;
  Works works_;
  std::optional<Executor> executor_;
  std::vector<Nanoseconds> offsets_;  // of the devices' clocks; empty: they have one
  std::int32_t iterations_ = 0;
  std::int64_t checked_ = 0;
};

}  // namespace

LiveResult run_on_cuda(const LiveRequest& request, const CudaOptions& options, const LiveProgress& progress) {
  refuse_what_cannot_be(request);
  auto run = std::make_unique<CudaRun>(request, options, progress);
  if (!run->can_run()) return run->finish();
  run->start();
  if (run->verify_and_warm_up()) {
    run->calibrate_costs();
    run->measure();
  }
  LiveResult result = run->finish();
  // A GPU that hangs for good would hang whoever gives its memory back.
  if (run->is_lost()) static_cast<void>(run.release());
  return result;
}

}  // namespace debubble::live
