#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <string>
#include <utility>

#include "live/backends.hpp"
#include "live/cpu/calibration.hpp"
#include "live/cpu/cores.hpp"
#include "live/cpu/cpu_worker.hpp"
#include "live/cpu/describe_work.hpp"
#include "live/cpu/matrix.hpp"
#include "live/job.hpp"
#include "live/live.hpp"
#include "live/mpi/agreement.hpp"
#include "live/mpi/control_channel.hpp"
#include "live/mpi/gathered.hpp"
#include "live/mpi/gpu_rank.hpp"
#include "live/mpi/join.hpp"
#include "live/mpi/plugin_loader.hpp"
#include "live/mpi/rank_run.hpp"
#include "live/mpi/stopped_ranks.hpp"

namespace debubble::live {
namespace {

// The work of one rank on the CPU: real matmuls, transfers by MPI, any clock.

// A worker whose process dies at an op, as the fault wants it: without a word, like a process that is out of memory.
class MortalWorker final : public Worker {
 public:
  MortalWorker(Worker& worker, const Job& job) : worker_(worker), job_(job) {}

  void start(Ledger& ledger) override { worker_.start(ledger); }
  void begin(const Op& op) override {
    if (job_.has_fault(Fault::Kind::kKill, op)) ::kill(::getpid(), SIGKILL);
    worker_.begin(op);
  }
  Payload work(const Op& op, std::span<const std::byte> input) override { return worker_.work(op, input); }
  void end(const Op& op) override { worker_.end(op); }

 private:
  Worker& worker_;
  const Job& job_;
};

// The thread that talks to MPI sleeps most of the time, so a core per rank will do, and one for the rest.
void require_cores(const MessagePassing& passing) {
  const auto online = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  const int quota = usable_cores().quota;
  const int cores = quota > 0 ? std::min(quota, online) : online;
  if (cores > passing.ranks_on_host()) return;
  throw UnavailableError({"U050", "--clock wall",
                          "the wall clock needs " + std::to_string(passing.ranks_on_host() + 1) + " cores for " +
                              std::to_string(passing.ranks_on_host()) + " ranks, and there are " +
                              std::to_string(cores),
                          "use --clock logical, which is exact on any number of cores, or more hosts"});
}

class CpuRank {
 public:
  CpuRank(MessagePassing& passing, const LiveRequest& request, const LiveProgress& progress)
      : passing_(passing),
        progress_(progress),
        job_(request),
        shape_(choose_shape(job_)),
        matmul_(MatmulLibrary::best()) {}

  LiveResult run(ControlChannel& channel) {
    RankReport report = run_rank(passing_, channel, job_,
                                 {[this](Transport& transport) { return work(transport); }, steady_time, false});
    std::vector<MeasuredTimes> times = read_times(report);
    LiveResult result = result_of(job_, std::move(report));
    const LiveRequest& request = job_.request();
    result.costs = times.empty() || shape_.token ? request.costs : measured_costs(job_, times);
    describe(result);
    return result;
  }

 private:
  RankResult work(Transport& transport) {
    if (job_.request().clock == Clock::kWall) require_cores(passing_);
    const std::int32_t device = passing_.rank();
    CpuWorker worker(job_, device, shape_, matmul_);
    const MeasuredTimes times = calibrated(worker, transport);
    worker.slow_down(job_.slowdown(device));
    MortalWorker mortal(worker, job_);
    DeviceRunner runner(job_, device, transport, mortal, steady_time);
    RankResult result;
    const int iterations = job_.request().warm_up + job_.request().repetitions;
    for (int iteration = 0; iteration < iterations; ++iteration) {
      transport.barrier();
      tell(iteration, iterations);
      result.runs.push_back(runner.run(iteration));
    }
    result.more.text(cpu_name()).number(static_cast<std::int64_t>(times.size()));
    for (const auto& [key, time] : times) {
      result.more.number(static_cast<std::int64_t>(key.first)).number(key.second).number(time);
    }
    return result;
  }

  MeasuredTimes calibrated(CpuWorker& worker, Transport& transport) const {
    if (shape_.token) return {};
    transport.barrier();
    if (passing_.rank() == 0 && progress_) progress_(0, 1, "calibrating");
    const bool wall = job_.request().clock == Clock::kWall;
    return calibrate(job_, passing_.rank(), worker, wall ? WallClock(steady_time) : WallClock(thread_cpu_time));
  }

  void tell(int done, int total) const {
    if (passing_.rank() != 0 || !progress_) return;
    const int counted = done - job_.request().warm_up;
    progress_(done, total, counted < 0 ? "warming up" : "iteration " + std::to_string(counted + 1));
  }

  // Rank 0: by device. Also finds out which processors took part.
  std::vector<MeasuredTimes> read_times(RankReport& report) {
    std::vector<MeasuredTimes> all(report.more.size());
    for (std::size_t device = 0; device < all.size(); ++device) {
      MessageReader& reader = report.more[device];
      const std::string processor = reader.text();
      if (std::find(processors_.begin(), processors_.end(), processor) == processors_.end()) {
        processors_.push_back(processor);
      }
      for (std::int64_t left = reader.number(); left > 0; --left) {
        std::pair<OpKind, std::int32_t> key;
        reader.into(key.first);
        reader.into(key.second);
        reader.into(all[device][key]);
      }
    }
    return all;
  }

  void describe(LiveResult& result) const {
    const bool wall = job_.request().clock == Clock::kWall;
    result.origin.backend = "mpi";
    result.origin.clock = wall ? "wall" : "logical";
    for (const std::string& processor : processors_) {
      result.origin.device += (result.origin.device.empty() ? "" : "; ") + processor;
    }
    result.origin.libraries = std::string(passing_.library()) + ", " + matmul_.name();
    result.origin.method = "one MPI rank per device; " + method();
    describe_work(job_.request(), shape_, matmul_, result);
    if (!shape_.token) {
      result.assumptions.push_back({"op times", "calibrated on each rank with all at work", Source::kMeasured});
    }
    if (wall) {
      result.assumptions.push_back(
          {"links", "MPI's own time, or the emulated link's where that is longer", Source::kMeasured});
    }
  }

  [[nodiscard]] std::string method() const {
    switch (job_.request().clock) {
      case Clock::kLogicalGiven:
        return "an op ends its given cost after its begin, messages carry their sender's time";
      case Clock::kLogicalCpuTime:
        return "an op takes the CPU time that its work took, messages carry their sender's time";
      case Clock::kWall:
        break;
    }
    return "std::chrono::steady_clock of each rank around every op, aligned to rank 0's by round trips";
  }

  MessagePassing& passing_;
  const LiveProgress& progress_;
  Job job_;
  WorkShape shape_;
  const MatmulLibrary& matmul_;
  std::vector<std::string> processors_;
};

// Call in every rank; at rank 0 the whole result, elsewhere only its end. Throws InputError E010, E011,
// UnavailableError U051 (memory), U050 (cores for the wall clock), WrongDataError: the same on all ranks.
LiveResult run_cpu_ranks(MessagePassing& passing, ControlChannel& channel, const LiveRequest& request,
                         const LiveProgress& progress) {
  return CpuRank(passing, request, progress).run(channel);
}

}  // namespace

LiveResult run_over_mpi(const LiveRequest& request, const MpiOptions& options, const LiveProgress& progress) {
  const MessagePassingPlugin& plugin = load_message_passing();
  if (!mpi_rank_of_environment().has_value() && request.schedule.devices > 1) {
    throw wrong_number_of_ranks(request.schedule.devices, 0);
  }
  watch_for_stopped_ranks(request.patience);
  MessagePassing& passing = join(plugin);
  ControlChannel channel(passing);
  agree(passing, channel, request, options);
  return options.gpus ? run_gpu_ranks(passing, channel, request, options.model, progress)
                      : run_cpu_ranks(passing, channel, request, progress);
}

}  // namespace debubble::live
