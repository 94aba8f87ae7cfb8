#include "studies/live/start.hpp"

#include <array>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "formats/version.hpp"
#include "live/backends.hpp"
#include "scenario/job/make_variation.hpp"
#include "scenario/job/transforms.hpp"
#include "studies/live/model.hpp"
#include "studies/measure/places.hpp"

namespace debubble {

namespace {

bool is_exact(live::Clock clock) { return clock == live::Clock::kLogicalGiven; }

// Of an exact run one iteration says all; of others the median and how far they scatter.
void choose_iterations(const LiveSettings& settings, LivePlan& plan) {
  constexpr int kEnough = 5;
  const bool exact = is_exact(plan.clock.clock);
  plan.repetitions = settings.repetitions > 0 ? settings.repetitions : exact ? 1 : kEnough;
  plan.warm_up = settings.warm_up >= 0 ? settings.warm_up : exact ? 0 : 1;
}

live::LiveRequest live_request(const LivePlan& plan, const LiveSettings& settings) {
  live::LiveRequest request;
  request.schedule = plan.job.schedule;
  request.costs = plan.job.costs;
  request.hop_latency = plan.job.topology.transfer_latency();
  request.hop_bandwidth = plan.job.topology.transfer_bandwidth();
  request.p2p = plan.job.p2p;
  request.clock = plan.clock.clock;
  request.repetitions = plan.repetitions;
  request.warm_up = plan.warm_up;
  request.patience = settings.patience;
  request.faults = plan.faults;
  return request;
}

live::CudaOptions cuda_options(const LivePlan& plan, const LiveSettings& settings) {
  live::CudaOptions options;
  options.shape = *plan.shape;
  options.partition = plan.partition;
  options.size = settings.size;
  options.graph = settings.graph;
  options.one_gpu_each = settings.gpu_each;
  options.gpu = settings.gpu;
  return options;
}

live::TorchOptions torch_options(const LiveSettings& settings) {
  live::TorchOptions options;
  options.package = package_folder("debubble_torch").string();
  options.stages = settings.stages;
  std::error_code error;
  options.folder = std::filesystem::current_path(error).string();
  options.partition = settings.stage_layers;
  options.precision = settings.precision;
  options.gpus = settings.gpu_each;
  return options;
}

// In UTC: "2026-11-20T16:50:00Z".
std::string utc_now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

}  // namespace

LivePlan plan_live(Scenario scenario, const LiveSettings& settings, const std::string& name, Progress& progress) {
  if (!scenario.p2p) scenario.p2p = P2p::kOverlapped;  // what the executors have, of tables with communication, too
  refuse_variation(scenario.variation, "debubble live");
  refuse_cluster(scenario.cluster, "debubble live");
  refuse_step(scenario.step, "debubble live");
  LivePlan plan;
  plan.job = settings.measures_costs() ? prepare_schedule(scenario, name, progress) : prepare(scenario, name, progress);
  if (settings.on_gpus()) {
    plan.shape = model_shape(settings.model);
    plan.partition =
        model_partition(*plan.shape, settings.size, settings.partition, plan.job.schedule.stages, plan.job.assumptions);
    plan.job.samples_per_microbatch = settings.size.microbatch;
    plan.job.tokens_per_sample = settings.size.sequence;
  }
  refuse_filled_bubbles(plan.job.schedule, "--transform fill-bubbles",
                        "no executor runs the work that fill-bubbles adds to the schedule");
  plan.clock = choose_clock(settings, plan.job.schedule.devices);
  choose_iterations(settings, plan);
  for (const std::string& fault : settings.faults) {
    plan.faults.push_back(live::parse_fault(fault, plan.job.schedule));
  }
  return plan;
}

live::LiveResult start_live(const LivePlan& plan, const LiveSettings& settings, Progress& progress) {
  const live::LiveRequest request = live_request(plan, settings);
  const live::LiveProgress tell = [&](int done, int total, const std::string& what) {
    progress.phase(what + " (" + std::to_string(done) + " of " + std::to_string(total) + ")");
  };
  progress.phase("running " + std::to_string(plan.job.schedule.total_ops()) + " ops");
  switch (settings.backend) {
    case LiveBackend::kCpu:
      return live::run_on_cpu(request, tell);
    case LiveBackend::kCuda:
      return live::run_on_cuda(request, cuda_options(plan, settings), tell);
    case LiveBackend::kTorch:
      return live::run_on_torch(request, torch_options(settings), tell);
    case LiveBackend::kMpi:
      break;
  }
  live::MpiOptions over_mpi;
  over_mpi.version = std::string(kVersion);
  over_mpi.gpus = settings.gpu_each;
  if (over_mpi.gpus) over_mpi.model = cuda_options(plan, settings);
  return live::run_over_mpi(request, over_mpi, tell);
}

RunRecord record_of(const LivePlan& plan, live::LiveResult result, const std::string& command_line) {
  RunRecord record;
  record.schedule = plan.job.schedule;
  record.costs = std::move(result.costs);
  record.hop_latency = result.hop_latency;
  record.hop_bandwidth = result.hop_bandwidth;
  record.p2p = plan.job.p2p;
  record.assumptions = plan.job.assumptions;
  record.samples_per_microbatch = plan.job.samples_per_microbatch;
  record.tokens_per_sample = plan.job.tokens_per_sample;
  record.origin = std::move(result.origin);
  record.origin.date = utc_now();
  record.origin.command_line = command_line;
  record.origin.version = std::string(kVersion);
  record.clocks = std::move(result.clocks);
  record.tensors_checked = result.tensors_checked;
  record.iterations = std::move(result.iterations);
  for (Assumption& chosen : result.assumptions) {
    if (is_exact(plan.clock.clock)) {
      record.origin.notes.push_back(label(chosen) + ": " + full_text(chosen));
    } else {
      record.assumptions.push_back(std::move(chosen));
    }
  }
  return record;
}

}  // namespace debubble
