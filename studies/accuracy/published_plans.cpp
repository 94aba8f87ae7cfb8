#include "studies/accuracy/published_plans.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "scenario/check_scenario.hpp"
#include "sim/core/error.hpp"
#include "studies/accuracy/accuracy.hpp"
#include "studies/accuracy/plan_notes.hpp"
#include "studies/plan/framework_flags.hpp"
#include "studies/plan/plan_job.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {
namespace {

// One record with its flags, and what is left of them without the layout.
struct ReadRecord {
  const ResultRecord* record = nullptr;
  double measured = 0;
  ScenarioFlags flags;
  ScenarioFlags job;
  PlanChoice choice;
};

PlanChoice choice_from(const ScenarioFlags& flags) {
  PlanChoice choice;
  choice.schedule = flags.schedules.empty() ? "1f1b" : flags.schedules.front();
  choice.tensor = flags.cluster.tensor.value_or(1);
  choice.context = flags.cluster.context.value_or(1);
  choice.expert = flags.cluster.expert.value_or(1);
  choice.pipeline = flags.devices.value_or(1);
  choice.data = flags.cluster.data.value_or(1);
  choice.sequence = flags.cluster.sequence_parallel;
  choice.microbatch = flags.transformer.microbatch_size.value_or(1);
  choice.microbatches = flags.microbatches.value_or(1);
  choice.chunks = flags.chunks.value_or(1);
  // On one data and context rank there is nothing to shard, and a plan does not try.
  choice.zero = choice.data * choice.context > 1 ? flags.cluster.zero.value_or(0) : 0;
  for (int k = 0; k < 3; ++k) {
    if (flags.transformer.recompute == kRecomputeWords[k]) choice.recompute = k;
  }
  return choice;
}

ScenarioFlags without_layout(ScenarioFlags flags) {
  flags.schedules.clear();
  flags.devices.reset();
  flags.microbatches.reset();
  flags.chunks.reset();
  flags.partition.clear();
  flags.transformer.microbatch_size.reset();
  flags.transformer.recompute.clear();
  flags.transformer.scatter_gather = false;
  flags.cluster.tensor.reset();
  flags.cluster.context.reset();
  flags.cluster.expert.reset();
  flags.cluster.data.reset();
  flags.cluster.zero.reset();
  flags.cluster.sequence_parallel = false;
  return flags;
}

// Nothing where no model is trained, or no step was measured.
std::optional<ReadRecord> read_layout(const ResultRecord& record) {
  ReadRecord read;
  read.record = &record;
  read.measured = measured_step(record).value_or(0);
  set_flags(flag_rows(read.flags), record.arguments);
  if (read.flags.transformer.model.empty() || read.measured <= 0) return std::nullopt;
  read.choice = choice_from(read.flags);
  read.job = without_layout(read.flags);
  return read;
}

int gpus_of(const PlanChoice& choice) { return choice.tensor * choice.context * choice.pipeline * choice.data; }
std::int64_t batch_of(const PlanChoice& choice) {
  return choice.microbatch * choice.microbatches * std::int64_t{choice.data};
}

void simulate_layout(const ReadRecord& read, PublishedLayout& layout) {
  try {
    NoProgress nobody;
    const Report report = simulate(check_scenario(read.flags), read.choice.schedule, nobody).result.report;
    if (report.deadlock) {
      layout.refused = "the run ends in a deadlock";
      return;
    }
    PlannedRun run;
    run.choice = read.choice;
    run.step = report.makespan;
    run.bubble_ratio = report.bubble_ratio;
    for (const DeviceReport& device : report.devices) run.peak = std::max(run.peak, device.peak_memory);
    if (report.memory_fit) run.spare = report.memory_fit->spare;
    layout.run = run;
  } catch (const InputError& error) {
    layout.refused = error.diagnostics().front().code + ": " + error.diagnostics().front().message;
  }
}

std::string sizes_text(const std::set<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

// The usual space, and what the layouts take beside it.
std::vector<std::string> opened_space(const std::vector<ReadRecord>& records) {
  std::set<std::int64_t> sizes{1, 2, 4, 8, 16, 32};
  std::set<std::int64_t> tensor{1, 2, 4, 8};
  bool without_sequence = false;
  bool other_tensor = false;
  for (const ReadRecord& read : records) {
    sizes.insert(read.choice.microbatch);
    other_tensor = tensor.insert(read.choice.tensor).second || other_tensor;
    without_sequence = without_sequence || (read.choice.tensor > 1 && !read.choice.sequence);
  }
  std::vector<std::string> open{"microbatch=" + sizes_text(sizes)};
  if (other_tensor) open.push_back("tp=" + sizes_text(tensor));
  if (without_sequence) open.emplace_back("sequence-parallel=on,off");
  return open;
}

class JobPlanner {
 public:
  JobPlanner(const std::vector<ReadRecord>& records, double gap, Progress& progress)
      : records_(records), progress_(progress) {
    const PlanChoice& first = records.front().choice;
    job_.model = records.front().job.transformer.model;
    job_.gpus = gpus_of(first);
    job_.global_batch = batch_of(first);
    PlanFlags flags;
    flags.gpus = job_.gpus;
    flags.global_batch = job_.global_batch;
    flags.only = opened_space(records);
    asked_ = read_plan(records.front().job, flags);
    asked_.options.gap = gap;
    job_.sequence = asked_.request.sequence;
  }

  PublishedJob run() {
    for (const ReadRecord& read : records_) add_layout(read);
    std::stable_sort(job_.layouts.begin(), job_.layouts.end(),
                     [](const PublishedLayout& a, const PublishedLayout& b) { return a.measured < b.measured; });
    PlanSearch search(asked_.request, plan_space(asked_.request));
    search_alike(search);
    const SearchResult found = search.run(asked_.options, progress_);
    job_.space = found.space;
    job_.simulated = found.simulated;
    job_.remaining_gap = found.remaining_gap;
    if (!found.runs.empty()) job_.plan = found.runs.front();
    take_published();
    return std::move(job_);
  }

 private:
  using Kind = std::tuple<int, int, bool>;  // recomputation, ZeRO, sequence parallelism
  static Kind kind_of(const PlanChoice& choice) { return {choice.recompute, choice.zero, choice.sequence}; }

  void add_layout(const ReadRecord& read) {
    PublishedLayout layout;
    layout.record = read.record;
    layout.measured = read.measured;
    layout.choice = read.choice;
    layout.own_cut = !read.flags.partition.empty();
    simulate_layout(read, layout);
    job_.layouts.push_back(std::move(layout));
  }

  void search_alike(PlanSearch& search) {
    std::map<Kind, std::optional<PlannedRun>> best;
    for (PublishedLayout& layout : job_.layouts) {
      const auto [recompute, zero, sequence] = kind_of(layout.choice);
      const auto [found, fresh] = best.try_emplace(kind_of(layout.choice));
      if (fresh) {
        const auto is_alike = [recompute = recompute, zero = zero, sequence = sequence](const PlanChoice& choice) {
          const bool nothing_to_shard = choice.data * choice.context == 1;
          return choice.recompute == recompute && choice.recompute_stages.empty() &&
                 (choice.zero == zero || nothing_to_shard) && (choice.sequence == sequence || choice.tensor == 1) &&
                 runs_in(choice, "Megatron-LM");
        };
        const SearchResult result = search.run(asked_.options, progress_, is_alike);
        if (!result.runs.empty()) found->second = result.runs.front();
      }
      layout.alike = found->second;
    }
  }

  // A published layout may have what the space has not: a cut of its own, more stages per device.
  void take_published() {
    for (const PublishedLayout& layout : job_.layouts) {
      if (!layout.fits() || (job_.plan && job_.plan->step <= layout.run->step)) continue;
      job_.plan = layout.run;
      job_.plan_record = layout.record;
    }
  }

  const std::vector<ReadRecord>& records_;
  Progress& progress_;
  PlanJob asked_;
  PublishedJob job_;
};

// By what they train, on what, in the order of their first records.
std::vector<std::vector<ReadRecord>> group_jobs(const ResultsFile& results, const JudgedSource& source) {
  std::map<std::string, std::size_t> known;
  std::vector<std::vector<ReadRecord>> jobs;
  for (const ResultRecord& record : results.records) {
    if (record.source != source.source->name) continue;
    std::optional<ReadRecord> read = read_layout(record);
    if (!read) continue;
    const std::string key = flag_line(flag_rows(read->job)) + " " + std::to_string(gpus_of(read->choice)) + " " +
                            std::to_string(batch_of(read->choice));
    const auto [found, fresh] = known.try_emplace(key, jobs.size());
    if (fresh) jobs.emplace_back();
    jobs[found->second].push_back(std::move(*read));
  }
  return jobs;
}

std::optional<double> step_error(const JudgedSource& source) {
  for (const ErrorSummary& one : source.summaries) {
    if (one.quantity == Quantity::kStepTime && one.group.empty()) return one.mean_absolute;
  }
  return std::nullopt;
}

}  // namespace

std::vector<PlannedSource> plan_published(const ResultsFile& results, const std::string& only, double gap,
                                          Progress& progress) {
  std::vector<PlannedSource> sources;
  for (const JudgedSource& judged : judge_results(results, {}, only)) {
    PlannedSource planned;
    planned.source = judged.source;
    planned.error = step_error(judged);
    for (const std::vector<ReadRecord>& records : group_jobs(results, judged)) {
      PublishedJob job = JobPlanner(records, gap, progress).run();
      const auto simulated = std::find_if(job.layouts.begin(), job.layouts.end(),
                                          [](const PublishedLayout& layout) { return layout.run.has_value(); });
      if (job.plan && simulated != job.layouts.end() && job.plan_record != simulated->record) {
        job.notes = plan_notes(*job.plan, *simulated, planned.error);
      }
      planned.jobs.push_back(std::move(job));
    }
    if (!planned.jobs.empty()) sources.push_back(std::move(planned));
  }
  return sources;
}

}  // namespace debubble
