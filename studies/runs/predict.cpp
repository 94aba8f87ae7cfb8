#include "studies/runs/predict.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "formats/version.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/core/at.hpp"
#include "sim/rows/posted_receives.hpp"

namespace debubble {

RunRecord record_of(const Simulated& run, const std::string& command_line) {
  RunRecord record;
  record.schedule = run.job.schedule;
  record.costs = run.job.costs;
  record.hop_latency = run.job.topology.transfer_latency();
  record.hop_bandwidth = run.job.topology.transfer_bandwidth();
  record.p2p = run.job.p2p;
  record.assumptions = run.job.assumptions;
  record.samples_per_microbatch = run.job.samples_per_microbatch;
  record.tokens_per_sample = run.job.tokens_per_sample;
  record.origin.backend = "simulator";
  record.origin.clock = "simulated";
  record.origin.method = "simulated from the costs and links in this file";
  record.origin.command_line = command_line;
  record.origin.version = std::string(kVersion);
  if (!run.job.variation.none()) {
    record.origin.notes.emplace_back(
        "ops vary from the costs in this file; what others waited for because of that shows as dependency, fill and "
        "drain");
  }
  record.clocks.method = "one clock";
  record.iterations.push_back({run.result.timeline, {}, {}});
  return record;
}

std::string not_in_run_files(const Simulated& run) {
  if (!run.job.step.empty() || !run.result.timeline.steps.empty())
    return "it has tasks of a training step in addition to the schedule's ops; --step off leaves them out";
  if (run.job.topology.network() != nullptr) return "its transfers travel over a modelled network";
  if (run.job.p2p == P2p::kLate && !run.job.schedule.receives.empty()) {
    Schedule plain = run.job.schedule;
    plain.receives.clear();
    const bool usual = posted_receives(OpIndex(plain)) == posted_receives(OpIndex(run.job.schedule));
    if (!usual) return "its table posts receives at places of its own; --p2p overlapped leaves them out";
  }
  return "";
}

Simulated simulate_record(const RunRecord& record, Progress& progress) {
  Simulated run;
  run.job.schedule = record.schedule;
  run.job.costs = record.costs;
  run.job.topology = Topology::ideal(record.hop_latency, record.hop_bandwidth);
  run.job.p2p = record.p2p;
  run.job.samples_per_microbatch = record.samples_per_microbatch;
  run.job.tokens_per_sample = record.tokens_per_sample;
  run.job.assumptions = record.assumptions;
  run.result = simulate(run.job, progress);
  return run;
}

Report report_of(const RunRecord& record, std::size_t iteration) {
  const RunIteration& run = record.iterations.at(iteration);
  Report report = analyse(run.timeline, record.schedule, record.costs);
  report.assumptions = record.assumptions;
  add_throughput(report, record.samples_per_microbatch, record.tokens_per_sample);
  add_notes(record.schedule, report);
  if (run.peak_activation.size() != report.devices.size()) return report;
  const double share = activation_share(record.costs, record.schedule.devices);
  for (DeviceReport& device : report.devices) {
    device.peak_activation = at(run.peak_activation, device.device);
    device.peak_activation_shares = share > 0 ? static_cast<double>(device.peak_activation) / share : 0.0;
  }
  return report;
}

std::size_t median_iteration(const RunRecord& record) {
  if (record.iterations.empty()) throw std::logic_error("median_iteration: a run without iterations");
  std::vector<std::pair<Nanoseconds, std::size_t>> steps;
  for (std::size_t k = 0; k < record.iterations.size(); ++k) {
    steps.emplace_back(record.iterations[k].timeline.makespan, k);
  }
  std::sort(steps.begin(), steps.end());
  return steps[(steps.size() - 1) / 2].second;
}

}  // namespace debubble
