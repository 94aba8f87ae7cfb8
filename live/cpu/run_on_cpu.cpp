#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>

#include "live/backends.hpp"
#include "live/cpu/calibration.hpp"
#include "live/cpu/cores.hpp"
#include "live/cpu/cpu_worker.hpp"
#include "live/cpu/describe_work.hpp"
#include "live/cpu/fabric.hpp"
#include "live/cpu/first_error.hpp"
#include "live/cpu/matrix.hpp"
#include "live/cpu/time_limits.hpp"
#include "live/device_runner.hpp"
#include "live/job.hpp"
#include "live/stall.hpp"
#include "sim/core/at.hpp"
#include "sim/rows/observed.hpp"

namespace debubble::live {

namespace {

using std::chrono::steady_clock;

// Small links where time is logical, so that full ones are met; wide ones where a wait for room would cost time.
std::size_t link_capacity(Clock clock) { return clock == Clock::kWall ? 1024 : 4; }

// The threads of all devices, what they measured, and the first thing that went wrong.
class CpuRun {
 public:
  CpuRun(const Job& job, const LiveProgress& progress)
      : job_(job),
        progress_(progress),
        devices_(static_cast<std::size_t>(job.schedule().devices)),
        iterations_(job.request().warm_up + job.request().repetitions),
        shape_(choose_shape(job)),
        timeout_(watchdog_timeout(job, shape_.token)),
        poll_interval_(std::clamp(timeout_ / 4, kNanosecondsPerMillisecond, 200 * kNanosecondsPerMillisecond)),
        matmul_(MatmulLibrary::best()),
        pins_(job.request().clock != Clock::kLogicalGiven && usable_cores().usable() > job.schedule().devices),
        fabric_(job.schedule().devices, link_capacity(job.request().clock), job.request().clock == Clock::kWall),
        runs_(static_cast<std::size_t>(iterations_), std::vector<DeviceRun>(devices_)),
        times_(devices_) {}

  LiveResult run() {
    std::vector<std::thread> threads;
    try {
      for (std::size_t device = 0; device < devices_; ++device) threads.emplace_back([this, device] { drive(device); });
      watch();
    } catch (...) {
      fabric_.stop();
      for (std::thread& thread : threads) thread.join();
      throw;
    }
    for (std::thread& thread : threads) thread.join();
    error_.rethrow();
    return result();
  }

 private:
  // One device's thread.
  void drive(std::size_t device) {
    try {
      run_device(static_cast<std::int32_t>(device));
    } catch (const Stalled&) {
      // `fabric_` or `watch` knows why.
    } catch (...) {
      error_.keep(std::current_exception());
      fabric_.stop();
    }
    const std::lock_guard lock(mutex_);
    ++ended_;
    changed_.notify_one();
  }

  void run_device(std::int32_t device) {
    if (pins_) pin_to_core(device);
    CpuWorker worker(job_, device, shape_, matmul_);
    Transport& transport = fabric_.transport(device);
    transport.barrier();
    if (!shape_.token) at(times_, device) = calibrate(job_, device, worker, calibration_clock());
    worker.slow_down(job_.slowdown(device));
    const steady_clock::time_point start = start_;
    DeviceRunner runner(job_, device, transport, worker, [start] { return (steady_clock::now() - start).count(); });
    for (int iteration = 0; iteration < iterations_; ++iteration) {
      meet(transport, iteration);
      at(at(runs_, iteration), device) = runner.run(iteration);
    }
    meet(transport, iterations_);
  }

  [[nodiscard]] std::function<Nanoseconds()> calibration_clock() const {
    if (job_.request().clock != Clock::kWall) return thread_cpu_time;
    const steady_clock::time_point start = start_;
    return [start] { return (steady_clock::now() - start).count(); };
  }

  // After the barrier all devices have ended `done` iterations.
  void meet(Transport& transport, int done) {
    transport.barrier();
    const std::lock_guard lock(mutex_);
    if (done_ >= done) return;
    done_ = done;
    changed_.notify_one();
  }

  // The calling thread tells the progress and looks for a run that does not move, until all threads have ended.
  void watch() {
    std::unique_lock lock(mutex_);
    int reported = -2;
    std::int64_t steps = -1;
    steady_clock::time_point moved = steady_clock::now();
    while (ended_ < devices_) {
      if (reported != done_) {
        reported = done_;
        lock.unlock();
        report(reported);
        lock.lock();
        continue;
      }
      changed_.wait_for(lock, std::chrono::nanoseconds(poll_interval_));
      if (fabric_.steps() != steps) {
        steps = fabric_.steps();
        moved = steady_clock::now();
      } else if (done_ >= 0 && (steady_clock::now() - moved).count() > timeout_) {
        has_watchdog_barked_ = true;
        fabric_.stop();
      }
    }
  }

  void report(int done) const {
    if (!progress_ || done == iterations_) return;
    const int warm_up = job_.request().warm_up;
    const std::string iteration = "iteration " + std::to_string(done - warm_up + 1);
    const std::string calibrating = calibration_text(job_, usable_cores().usable());
    progress_(std::max(done, 0), iterations_, done < 0 ? calibrating : done < warm_up ? "warming up" : iteration);
  }

  LiveResult result() {
    LiveResult result;
    result.costs = shape_.token ? job_.request().costs : measured_costs(job_, times_);
    result.hop_latency = job_.request().hop_latency;
    result.hop_bandwidth = job_.request().hop_bandwidth;
    result.clocks = {"one clock", 0, {}};
    if (fabric_.stalled() || has_watchdog_barked_) {
      result.stall = explain_stall(job_, fabric_.status());
      if (has_watchdog_barked_) {
        result.stall->cause =
            "no progress for " + std::to_string(timeout_ / (1000 * kNanosecondsPerMillisecond)) + " s";
      }
    }
    for (int k = 0; k < done_; ++k) add_iteration(at(runs_, k), k, result);
    describe(result);
    return result;
  }

  void add_iteration(const std::vector<DeviceRun>& runs, int number, LiveResult& result) const {
    Observation observation;
    observation.p2p = job_.request().p2p;
    observation.measured = job_.request().clock != Clock::kLogicalGiven;
    RunIteration iteration;
    for (const DeviceRun& run : runs) {
      result.tensors_checked += run.tensors_checked;
      observation.ops.insert(observation.ops.end(), run.ops.begin(), run.ops.end());
      observation.transfers.insert(observation.transfers.end(), run.transfers.begin(), run.transfers.end());
      iteration.peak_activation.push_back(run.peak_activation);
      iteration.peak_memory.push_back(run.peak_memory);
    }
    if (number < job_.request().warm_up) return;
    iteration.timeline = assemble_timeline(job_.request().schedule, observation);
    result.iterations.push_back(std::move(iteration));
  }

  void describe(LiveResult& result) const {
    const bool wall = job_.request().clock == Clock::kWall;
    result.origin.backend = "cpu";
    result.origin.clock = wall ? "wall" : "logical";
    result.origin.device = cpu_name();
    result.origin.libraries = matmul_.name();
    result.origin.method = method();
    describe_work(job_.request(), shape_, matmul_, result);
    if (!shape_.token) {
      result.assumptions.push_back({"op times",
                                    "calibrated on this machine with all devices at work: " + result.origin.device,
                                    Source::kMeasured});
    }
    if (wall) {
      result.assumptions.push_back(
          {"links", "emulated: a tensor is not used before it could have arrived", Source::kModelled});
    }
    if (pins_) result.origin.notes.emplace_back("each device's thread is pinned to a core of its own");
  }

  [[nodiscard]] std::string method() const {
    switch (job_.request().clock) {
      case Clock::kLogicalGiven:
        return "one thread per device; an op ends its given cost after its begin, messages carry their sender's time";
      case Clock::kLogicalCpuTime:
        return "one thread per device; an op takes the CPU time that its work took, messages carry their sender's time";
      case Clock::kWall:
        break;
    }
    return "one thread per device; std::chrono::steady_clock around every op";
  }

  const Job& job_;
  const LiveProgress& progress_;
  std::size_t devices_;
  int iterations_;
  WorkShape shape_;
  Nanoseconds timeout_;        // for longer than this no run is silent
  Nanoseconds poll_interval_;  // how often the watchdog looks
  const MatmulLibrary& matmul_;
  bool pins_;
  steady_clock::time_point start_ = steady_clock::now();
  Fabric fabric_;
  std::vector<std::vector<DeviceRun>> runs_;  // by iteration, then device; each written by the device's thread alone
  std::vector<MeasuredTimes> times_;          // by device
  FirstError error_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t ended_ = 0;  // threads
  int done_ = -1;          // iterations that all devices have ended; -1: calibrating
  bool has_watchdog_barked_ = false;
};

void check_request(const LiveRequest& request) {
  for (const Fault& fault : request.faults) {
    if (fault.kind != Fault::Kind::kKill) continue;
    throw InputError(Diagnostic{"E003", "--fault kill",
                                "the cpu backend has no process per device that could be killed",
                                "use --backend mpi, or drop= to lose a message"});
  }
  if (request.clock != Clock::kWall) return;
  const Cores cores = usable_cores();
  if (cores.usable() > request.schedule.devices) return;
  throw UnavailableError(Diagnostic{"U050", "--clock wall",
                                    "the wall clock needs " + std::to_string(request.schedule.devices + 1) +
                                        " cores for " + std::to_string(request.schedule.devices) +
                                        " devices, and this process may use " + std::to_string(cores.usable()) + " (" +
                                        to_string(cores) + ")",
                                    "use --clock logical, which is exact on any number of cores, or fewer devices"});
}

}  // namespace

LiveResult run_on_cpu(const LiveRequest& request, const LiveProgress& progress) {
  check_request(request);
  const Job job(request);
  try {
    return CpuRun(job, progress).run();
  } catch (const std::bad_alloc&) {
    throw UnavailableError(Diagnostic{"U051", "", "there is not enough memory for the buffers of this run",
                                      "run fewer microbatches, or end other programs"});
  } catch (const std::system_error& error) {
    throw UnavailableError(Diagnostic{"U051", "", std::string("no thread for each device: ") + error.what(),
                                      "run fewer devices, or raise the limit of processes (ulimit -u)"});
  }
}

}  // namespace debubble::live
