#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "live/backends.hpp"
#include "live/cuda/calibration.hpp"
#include "live/cuda/executor.hpp"
#include "live/cuda/issue_order.hpp"
#include "live/cuda/verification.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"

namespace debubble::live {
namespace {

constexpr int kLeastWarmUp = 3;
constexpr int kMostWarmUp = 300;
constexpr Nanoseconds kBusyBefore = 1'000'000'000;   // until a GPU's clock has settled
constexpr Nanoseconds kBusyAtMost = 10'000'000'000;  // of a machine that does not settle
constexpr std::int64_t kSettledWithin = 3;           // per cent, of the last three iterations

void refuse_on_one_gpu(const LiveRequest& request) {
  std::vector<Diagnostic> problems;
  if (request.p2p != P2p::kOverlapped) {
    problems.push_back({"E003", "--p2p", "transfers between the parts of a GPU overlap the work",
                        "--p2p overlapped; the backends cpu and mpi know the others"});
  }
  for (const Fault& fault : request.faults) {
    if (fault.kind != Fault::Kind::kKill) continue;
    problems.push_back({"E003", "--fault", "the backend cuda runs all devices in one process: none can be killed alone",
                        "--backend mpi has one process per device"});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

std::string rate(std::int64_t bytes_per_second) {
  if (bytes_per_second == 0) return "too fast to measure at its size";
  return format_with_unit(bytes_per_second, scale_of("MB/s"));
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
    prepare_cuda_environment(KernelLoading::kLazy);  // the first iteration loads what is used
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
    bench_.emplace(lanes_, *executor_);
    describe(*libraries);
  }

  // False: stalled.
  bool verify_and_warm_up() {
    tell(0, "loading kernels");
    if (!load_kernels()) return false;
    if (options_.one_gpu_each) clocks_before_ = read_clocks(lanes_, *executor_, *bench_);
    for (int graph = 0; graph <= (options_.graph ? 1 : 0); ++graph) {
      tell(0, "checking every payload");
      if (!iterate({graph == 1, true})) return false;
      check_payloads(*job_, *executor_);
    }
    std::vector<Nanoseconds> lengths;
    Nanoseconds busy = 0;
    for (int turn = 0; turn < kMostWarmUp; ++turn) {
      const bool enough = turn >= std::max(kLeastWarmUp, request_.warm_up) && busy >= kBusyBefore;
      if (enough && settled(lengths)) return true;
      if (enough && busy >= kBusyAtMost) break;
      tell(0, "warming up");
      if (!iterate({options_.graph, false})) return false;
      lengths.push_back(timeline(observed()).makespan);
      iteration_ = lengths.back();
      busy += lengths.back();
    }
    result_.origin.notes.push_back("the last iterations of the warm-up still differed by more than " +
                                   std::to_string(kSettledWithin) + " %");
    return true;
  }

  // False: stalled.
  bool calibrate_costs() {
    tell(0, "calibrating");
    const std::optional<Calibration> made =
        calibrate(*job_, *parts_, lanes_, works_, *executor_, *bench_, iteration_, [this] {
          return iterate({options_.graph, false});
        });
    if (!made) return false;
    const Calibration& found = *made;
    if (!options_.one_gpu_each) result_.costs.at_work = found.at_work;
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
                           " with all devices at work; " + std::to_string(found.latency_alone) + " ns and " +
                           rate(found.bandwidth_alone) + " alone");
    assume("step of the GPU's clock", std::to_string(found.clock_step) + " ns");
    if (!found.all_at_work) {
      note(
          "op times with several devices at work come from the whole calibration: there was no moment at which all of "
          "them worked and every op was timed");
    }
    if (const std::int64_t early = bench_->opened_early(); early > 0) {
      note(std::to_string(early) +
           " blocks of the calibration began before all was launched: they have more than a stream holds back");
    }
    // After the calibration the first iteration is unlike the others: what it captures, and the state of the clocks.
    return (!executor_->lengthens_ops() || load_kernels()) && iterate({options_.graph, false});
  }

  void measure() {
    for (int turn = 0; turn < request_.repetitions; ++turn) {
      tell(turn, "iteration " + std::to_string(turn));
      if (!iterate({options_.graph, false})) return;
      seen_.push_back(observed());
      RunIteration iteration;
      for (const auto& work : works_) {
        iteration.peak_activation.push_back(work->peak_activation());
        iteration.peak_memory.push_back(work->peak_memory() + kGemmWorkspace);
      }
      result_.iterations.push_back(std::move(iteration));
    }
    make_timelines();
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

  // One iteration that counts for nothing; false when it got stuck.
  bool load_kernels() {
    result_.stall = executor_->run(iterations_++, {false, true, true});
    return !result_.stall;
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

  [[nodiscard]] Observation observed() const { return observe(*job_, *executor_, works_.front()->payload_bytes()); }
  // By the clocks as they were read before.
  [[nodiscard]] Timeline timeline(Observation seen) const {
    use_common_clock(seen, {clocks_before_, {}});
    return assemble_timeline(job_->schedule(), seen);
  }

  // Once the clocks have been read again: they drift while the repetitions run.
  void make_timelines() {
    GpuClockReading after;
    if (options_.one_gpu_each) {
      after = read_clocks(lanes_, *executor_, *bench_);
      result_.clocks = {"one word of host memory, seen by all GPUs before and after the iterations",
                        std::max(clocks_before_.residual, after.residual), after.offsets};
    }
    const ClockFit clocks(clocks_before_, after);
    for (std::size_t turn = 0; turn < seen_.size(); ++turn) {
      use_common_clock(seen_[turn], clocks);
      result_.iterations[turn].timeline = assemble_timeline(job_->schedule(), seen_[turn]);
    }
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
                                   : "launched one by one while a gate is closed, which opens once all is launched") +
        "; one-thread kernels read the GPU's clock before and after each op and transfer";
    origin.notes = parts_->notes();
    origin.notes.emplace_back("payload checksums were taken in one iteration before the others, which is not counted");
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
    } else if (executor_->gate_opened() != Opened::kInTime) {
      text += executor_->gate_opened() == Opened::kFull
                  ? ": more than a stream holds back (" + std::to_string(Gate::kMostWaiting) + ")"
                  : ": launching made no progress for " + std::to_string(Gate::kIdleLimit.count()) + " ms";
      text += ", so the gate opened before all was launched; where the GPU caught up with the host, launching shows";
    }
    note(text);
  }
  void note(const std::string& text) { result_.origin.notes.push_back(text); }

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
  std::optional<Bench> bench_;
  GpuClockReading clocks_before_;  // empty: the devices have one clock
  std::vector<Observation> seen_;  // of each repetition
  std::int32_t iterations_ = 0;
  Nanoseconds iteration_ = 0;  // what the last one of the warm-up took
  std::int64_t checked_ = 0;
};

}  // namespace

LiveResult run_on_cuda(const LiveRequest& request, const CudaOptions& options, const LiveProgress& progress) {
  refuse_on_one_gpu(request);
  auto run = std::make_unique<CudaRun>(request, options, progress);
  if (!run->can_run()) return run->finish();
  run->start();
  // A GPU that hangs for good would hang whoever gives its memory back.
  const auto let_go = [&run] {
    if (run->is_lost()) static_cast<void>(run.release());
  };
  try {
    if (run->verify_and_warm_up() && run->calibrate_costs()) run->measure();
  } catch (...) {
    let_go();
    throw;
  }
  LiveResult result = run->finish();
  let_go();
  return result;
}

}  // namespace debubble::live
