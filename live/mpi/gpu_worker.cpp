#include "live/mpi/gpu_worker.hpp"

#include <unistd.h>

#include <csignal>
#include <string>

#include "sim/core/error.hpp"

namespace debubble::live {

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

}  // namespace debubble::live
