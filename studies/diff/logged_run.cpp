#include "studies/diff/logged_run.hpp"

#include <algorithm>
#include <cmath>

#include "formats/files/read_file.hpp"
#include "formats/frameworks/torchtitan_log.hpp"
#include "formats/megatron/arguments.hpp"
#include "scenario/job/make_schedule.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kMostLoggedRanks = 1'000'000;  // in one dimension

[[noreturn]] void refuse_contradiction(const std::string& name, std::string message) {
  throw InputError(
      Diagnostic{"P012", name, std::move(message), "give the whole log of one job, as Megatron-LM printed it"});
}

void require_block(const std::string& text, const std::string& name) {
  const std::size_t last = text.rfind("--- arguments ---");
  const bool begins = last != std::string::npos;
  if (begins && is_megatron_log(std::string_view(text).substr(last))) return;
  throw InputError(Diagnostic{"P010", name,
                              begins
                                  ? "the block of arguments has no end: the log is cut, or its lines are not in order"
                                  : "there is no block of arguments (\"--- arguments ---\"): this is not a training "
                                    "log of Megatron-LM, or its beginning is missing",
                              "give the whole log, from the start of the job"});
}

void read_arguments(LoggedRun& run, const std::string& name) {
  MegatronArguments arguments(run.log.words);
  run.pipeline = arguments.count("pipeline-model-parallel-size").value_or(1);
  run.world = arguments.count("world-size").value_or(0);
  run.global_batch = arguments.count("global-batch-size").value_or(0);
  run.sequence = arguments.count("seq-length").value_or(0);
  const std::int64_t tensor = arguments.count("tensor-model-parallel-size").value_or(1);
  const std::int64_t context = arguments.count("context-parallel-size").value_or(1);
  if (!arguments.found().empty()) {
    const std::string& found = arguments.found().front();
    refuse_contradiction(name, found.substr(0, found.find(": left out")));
  }
  if (std::max({tensor, context, run.pipeline}) > kMostLoggedRanks) {
    refuse_contradiction(
        name, "there are more than " + std::to_string(kMostLoggedRanks) + " tensor, context or pipeline ranks");
  }
  run.inner_ranks = tensor * context;
  run.pipeline_inside = arguments.flag("use-tp-pp-dp-mapping");
}

void check_ranks(const LoggedRun& run, const std::string& name) {
  const std::int64_t model = run.inner_ranks * run.pipeline;
  if (run.world > 0 && run.world % model != 0) {
    refuse_contradiction(name,
                         "world_size " + std::to_string(run.world) +
                             " is not a multiple of tensor x context x pipeline ranks = " + std::to_string(model));
  }
  const std::int64_t ranks = run.ranks();
  for (const LoggedMemory& memory : run.log.memory) {
    if (memory.rank >= 0 && memory.rank < ranks) continue;
    refuse_contradiction(name, "there is memory of rank " + std::to_string(memory.rank) + ", and the job has " +
                                   std::to_string(ranks) + " ranks");
  }
  for (const LoggedInterval& interval : run.log.intervals) {
    for (const LoggedTimer& timer : interval.timers) {
      if (timer.of != LoggedTimer::Of::kRank || (timer.rank >= 0 && timer.rank < ranks)) continue;
      refuse_contradiction(name, "there is a timer of rank " + std::to_string(timer.rank) + ", and the job has " +
                                     std::to_string(ranks) + " ranks");
    }
  }
}

void check_iteration_order(const LoggedRun& run, const std::string& name) {
  const std::vector<LoggedInterval>& all = run.log.intervals;
  for (std::size_t k = 1; k < all.size(); ++k) {
    if (all[k].last_iteration > all[k - 1].last_iteration) continue;
    refuse_contradiction(name, "iteration " + std::to_string(all[k].last_iteration) + " comes after iteration " +
                                   std::to_string(all[k - 1].last_iteration) + ": lines are repeated or not in order");
  }
}

// What the log's own block would say.
void take_from_job(const Scenario& job, LoggedRun& run) {
  const Parallelism& sizes = job.cluster.sizes;
  run.pipeline = job.devices.value_or(kDefaultDevices);
  run.inner_ranks = std::int64_t{sizes.tensor} * sizes.context;
  run.world = run.inner_ranks * run.pipeline * sizes.data;
  if (!job.transformer.setup) return;
  const TrainingSetup& setup = *job.transformer.setup;
  run.sequence = setup.sequence;
  run.global_batch = setup.microbatch_size * job.microbatches.value_or(kDefaultMicrobatches) * sizes.data;
}

// torchtitan's lines have tokens per second of a device: the job says how many tokens a step has.
void read_torchtitan(const std::string& text, LoggedRun& run) {
  if (run.global_batch == 0) return;
  const double tokens = static_cast<double>(run.global_batch) * static_cast<double>(run.sequence);
  for (const TorchtitanStep& step : read_torchtitan_log(text)) {
    const double seconds = tokens / (step.tokens_per_second * static_cast<double>(run.ranks()));
    if (!(seconds < static_cast<double>(kLongestDuration) / 1e9)) continue;
    run.log.intervals.push_back({step.step, std::llround(seconds * 1e9), run.global_batch, 0, 0, {}});
  }
  run.log.forgets = true;
}

}  // namespace

int LoggedRun::device_of(std::int64_t rank) const {
  return static_cast<int>(pipeline_inside ? rank / inner_ranks % pipeline : rank / (ranks() / pipeline));
}

std::string log_text(const std::string& file, const std::string& flag) {
  return read_text_file(file, flag, kMostLogBytes);
}

LoggedRun read_logged_run(const std::string& text, const std::string& name, const Scenario* job) {
  if (job == nullptr) require_block(text, name);
  LoggedRun run;
  run.log = read_megatron_log(text);
  if (run.log.blocks > 0) {
    read_arguments(run, name);
  } else {
    take_from_job(*job, run);
    if (run.log.intervals.empty()) read_torchtitan(text, run);
  }
  if (run.pipeline < 2) {
    throw InputError(
        Diagnostic{"P016", name,
                   "the job has no pipeline: pipeline_model_parallel_size is " +
                       std::string(run.log.names.contains("pipeline-model-parallel-size") ? "1" : "not there"),
                   "debubble import --from megatron makes a scenario of it for debubble simulate"});
  }
  if (run.log.intervals.empty() && run.log.memory.empty()) {
    throw InputError(Diagnostic{
        "P016", name,
        "nothing was measured: after the arguments there is neither a line \"iteration N/ ... | elapsed time per "
        "iteration (ms): ...\" nor one of memory",
        "give a log that reaches its first line of an iteration (--log-interval)"});
  }
  check_ranks(run, name);
  check_iteration_order(run, name);
  run.measured = measured_iterations(run.log, run.global_batch);
  if (!run.log.intervals.empty() && run.measured.intervals.empty()) {
    refuse_contradiction(name, "the arguments have a global batch of " + std::to_string(run.global_batch) +
                                   " samples, and no iteration has: the last one's is " +
                                   std::to_string(run.measured.other_batch));
  }
  return run;
}

}  // namespace debubble
