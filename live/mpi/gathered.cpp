#include "live/mpi/gathered.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "live/mpi/stopped_ranks.hpp"
#include "live/stall.hpp"
#include "sim/rows/observed.hpp"

namespace debubble::live {

namespace {

// One iteration of all devices.
RunIteration iteration_of(const Job& job, const RankReport& report, std::size_t number) {
  Observation observation;
  observation.p2p = job.request().p2p;
  observation.measured = job.request().clock != Clock::kLogicalGiven;
  observation.clock_error = report.leaving_error;
  RunIteration iteration;
  for (const std::vector<DeviceRun>& device : report.runs) {
    const DeviceRun& run = device[number];
    observation.ops.insert(observation.ops.end(), run.ops.begin(), run.ops.end());
    observation.transfers.insert(observation.transfers.end(), run.transfers.begin(), run.transfers.end());
    iteration.peak_activation.push_back(run.peak_activation);
    iteration.peak_memory.push_back(run.peak_memory);
  }
  iteration.timeline = assemble_timeline(job.request().schedule, observation);
  return iteration;
}

// "rank 2 has given no sign of life for 3 s: its process is stopped, or its host is out of reach"
std::string silence_of(const std::vector<int>& silent, Nanoseconds patience) {
  const bool several = silent.size() > 1;
  std::string ranks;
  for (const int rank : silent) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  return (several ? "ranks " : "rank ") + ranks + (several ? " have" : " has") + " given no sign of life for " +
         whole_seconds(most_silence(patience)) + ": " +
         (several ? "their processes are stopped, or their hosts are" : "its process is stopped, or its host is") +
         " out of reach (" + (several ? "their places are the last they" : "its place is the last it") + " told)";
}

}  // namespace

LiveResult result_of(const Job& job, RankReport report) {
  if (report.outcome.kind == Outcome::Kind::kFailed) raise(report.outcome.failure);
  LiveResult result;
  result.costs = job.request().costs;
  result.hop_latency = job.request().hop_latency;
  result.hop_bandwidth = job.request().hop_bandwidth;
  result.clocks = std::move(report.clocks);
  if (report.outcome.kind == Outcome::Kind::kStalled) result.stall = explain_stall(job, report.outcome.statuses);
  if (!report.outcome.silent.empty()) result.stall->cause = silence_of(report.outcome.silent, job.request().patience);
  for (const std::vector<DeviceRun>& device : report.runs) {
    for (const DeviceRun& run : device) result.tensors_checked += run.tensors_checked;
  }
  if (report.runs.empty()) return result;
  for (auto k = static_cast<std::size_t>(job.request().warm_up); k < report.runs[0].size(); ++k) {
    result.iterations.push_back(iteration_of(job, report, k));
  }
  return result;
}

}  // namespace debubble::live
