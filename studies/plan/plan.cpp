#include "studies/plan/plan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <utility>

#include "formats/text/choice.hpp"
#include "formats/text/numbers.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/assumptions.hpp"
#include "scenario/job/model_profile.hpp"
#include "sim/core/error.hpp"
#include "sim/core/split.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kUsualTokens = std::int64_t{1} << 22;  // of one step
constexpr double kUsualGap = 0.01;
constexpr int kMostGpus = 1 << 20;
constexpr std::int64_t kLargestBatch = (std::int64_t{1} << 31) - 1;  // counts of microbatches are int
constexpr std::array<std::pair<const char*, const char*>, 4> kFrameworks{
    {{"megatron", "Megatron-LM"}, {"torchtitan", "torchtitan"}, {"deepspeed", "DeepSpeed"}, {"pytorch", "PyTorch"}}};
constexpr double kSimpleEnough = 1.1;  // times the best step: no simpler plan that is slower is worth a line

double parse_number(const std::string& text, const char* place, double most, const char* example) {
  const std::optional<double> value =
      number_of(std::string_view(text).substr(0, text.size() - (text.ends_with('%') ? 1 : 0)));
  if (value && *value >= 0 && *value <= most) return *value;
  throw InputError(Diagnostic{
      "C012", place, "\"" + text + "\" is not a number from 0 to " + std::to_string(static_cast<std::int64_t>(most)),
      std::string("write it like ") + place + " " + example});
}

double parse_budget(const std::string& text) {
  const bool unit = text.ends_with('s');
  return parse_number(unit ? text.substr(0, text.size() - 1) : text, "--budget", 1e6, "10s");
}

using Allowed = std::map<std::string, std::vector<std::string>>;

void allow(Allowed& allowed, const std::string& key, std::vector<std::string> values, const std::string& place) {
  const auto [found, fresh] = allowed.emplace(key, std::move(values));
  if (fresh) return;
  throw InputError(Diagnostic{"C007", place, "\"" + key + "\" is given twice", "give each once"});
}

// "tp=4,pp=8"; of --only "schedule=1f1b,interleaved": what has no '=' is another value of the key before it.
void read_allowed(const std::vector<std::string>& lists, const char* flag, bool several, Allowed& allowed) {
  for (const std::string& list : lists) {
    std::string key;
    Allowed here;
    for (const std::string& item : split(list)) {
      const std::size_t equals = item.find('=');
      const bool named = equals != std::string::npos && equals > 0;
      if (named) key = item.substr(0, equals);
      const std::string value = named ? item.substr(equals + 1) : item;
      if (key.empty() || value.empty() || (!named && !several)) {
        throw InputError(
            Diagnostic{"C006", flag, "\"" + item + "\" is not KEY=VALUE",
                       several ? "write it like --only schedule=1f1b,interleaved" : "write it like --fix tp=8,pp=4"});
      }
      if (named && here.contains(key)) allow(here, key, {}, flag);  // throws
      here[key].push_back(value);
    }
    for (auto& [name, values] : here) allow(allowed, name, std::move(values), flag);
  }
}

// What a flag of the job fixes is taken off the job: choices set it.
void take_fixed(ScenarioFlags& job, Allowed& allowed) {
  const auto take = [&](std::optional<int>& flag, const char* key, const char* place) {
    if (flag) allow(allowed, key, {std::to_string(*flag)}, place);
    flag.reset();
  };
  take(job.devices, "pp", "--devices");
  take(job.chunks, "chunks", "--chunks");
  take(job.cluster.tensor, "tp", "--tp");
  take(job.cluster.context, "cp", "--cp");
  take(job.cluster.expert, "ep", "--ep");
  take(job.cluster.data, "dp", "--dp");
  take(job.cluster.zero, "zero", "--zero");
  if (job.cluster.sequence_parallel) allow(allowed, "sequence-parallel", {"on"}, "--sequence-parallel");
  job.cluster.sequence_parallel = false;
  if (!job.schedules.empty()) allow(allowed, "schedule", std::move(job.schedules), "--schedules");
  job.schedules.clear();
  if (!job.transformer.recompute.empty()) allow(allowed, "recompute", {job.transformer.recompute}, "--recompute");
  job.transformer.recompute.clear();
  if (job.transformer.model.empty() || !job.transformer.microbatch_size) return;
  allow(allowed, "microbatch", {std::to_string(*job.transformer.microbatch_size)}, "--microbatch-size");
  job.transformer.microbatch_size.reset();
}

void refuse_decided(const ScenarioFlags& job) {
  if (job.microbatches) {
    throw InputError(Diagnostic{"C087", "--microbatches", "a plan finds the number of microbatches itself",
                                "give --global-batch, the samples of one step"});
  }
  if (!job.params.empty() || !job.transforms.empty()) {
    throw InputError(Diagnostic{"C087", job.params.empty() ? "--transform" : "--param",
                                "a plan compares schedules as they are", "leave it out"});
  }
  ScenarioFlags copy = job;
  for (const Flag& flag : flag_rows(copy.variation)) {
    if (!is_given(flag)) continue;
    throw InputError(Diagnostic{"C087", std::string(flag.name),
                                "the bounds of a plan hold for ops that all take what they cost",
                                "leave it out here, and give it to debubble whatif with the plan's own command"});
  }
  if (job.transformer.model.empty() && job.profile.empty()) {
    throw InputError(Diagnostic{"C004", "--model", "nothing says what is to be trained",
                                "add --model llama3-70b (`debubble list models`), or --profile FILE"});
  }
}

int threads_of(const std::optional<int>& asked) {
  constexpr int kMostThreads = 1024;
  if (!asked) return 0;
  if (*asked >= 1 && *asked <= kMostThreads) return *asked;
  throw InputError(Diagnostic{"C012", "--threads", std::to_string(*asked) + " threads cannot be used",
                              "from 1 to " + std::to_string(kMostThreads) + "; without it one per core"});
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class PlanMaker {
 public:
  PlanMaker(const ScenarioFlags& job, const PlanFlags& flags, Progress& progress) : flags_(flags), progress_(progress) {
    plan_.job = job;
  }

  Plan run() {
    read_flags();
    PlanSearch search(request_, plan_space(request_));
    plan_.restrictions = search.space().restrictions;
    if (plan_.job.cluster.topology == ClusterFlags{}.topology) {
      plan_.restrictions.emplace_back(
          "links are ideal and shared by nobody, so that replicas and tensor ranks cost "
          "little: --topology says what there is");
    }
    const bool in_time = !options_.budget;
    begin_ = std::chrono::steady_clock::now();
    if (in_time && flags_.runs_in.empty()) search_frameworks(search);
    plan_.search = search.run(options_, progress_);
    if (plan_.search.runs.empty()) {
      if (!plan_.search.interrupted) find_enough_gpus();
      return std::move(plan_);
    }
    if (!in_time && flags_.runs_in.empty()) search_frameworks(search);
    add_simplest();
    show_best();
    return std::move(plan_);
  }

 private:
  void read_flags() {
    refuse_decided(plan_.job);
    plan_.gpus = flags_.gpus.value_or(0);
    if (plan_.gpus < 1 || plan_.gpus > kMostGpus) {
      throw InputError(Diagnostic{"C012", "--gpus", "a plan is for 1 to " + std::to_string(kMostGpus) + " GPUs",
                                  "write it like --gpus 64"});
    }
    if (!flags_.objective.empty()) {
      const std::size_t word = choice_of(flags_.objective, "step|throughput|cost|memory", "--objective");
      plan_.objective = word == 3 ? PlanObjective::kMemory : PlanObjective::kStep;
    }
    if (!flags_.price.empty()) plan_.price = parse_number(flags_.price, "--price", 1e6, "2.5");
    plan_.asked_gap = flags_.gap.empty() ? kUsualGap : parse_number(flags_.gap, "--gap", 100, "1%") / 100;
    options_.gap = plan_.asked_gap;
    options_.objective = plan_.objective;
    options_.threads = threads_of(flags_.threads);
    if (!flags_.budget.empty()) options_.budget = parse_budget(flags_.budget);
    if (!flags_.runs_in.empty()) {
      request_.runs_in =
          kFrameworks.at(choice_of(flags_.runs_in, "megatron|torchtitan|deepspeed|pytorch", "--runs-in")).second;
    }
    read_allowed(flags_.fix, "--fix", false, request_.allowed);
    read_allowed(flags_.only, "--only", true, request_.allowed);
    take_fixed(plan_.job, request_.allowed);
    choose_cluster(plan_.gpus);
    read_model();
    read_batch();
    request_.job = plan_.job;
    request_.gpus = plan_.gpus;
    request_.global_batch = plan_.global_batch;
  }

  void choose_cluster(int gpus) {
    if (plan_.job.cluster.topology != ClusterFlags{}.topology || plan_.job.transformer.model.empty()) return;
    const UsualCluster cluster = usual_cluster(plan_.job.transformer.hardware, gpus);
    request_.machine = cluster.machine;
    if (cluster.topology.empty()) return;
    plan_.job.cluster.topology = cluster.topology;
    chosen_topology_ = true;
    assume(plan_.assumptions, "topology", cluster.topology, Source::kDefault);
  }

  void read_model() {
    const Scenario probe = check_scenario(plan_.job);
    request_.layers = static_cast<int>(probe.profile->layers.size());
    request_.sequence = probe.profile->sequence_length;
    if (!probe.transformer.setup) {
      request_.microbatch = std::max<std::int64_t>(1, probe.profile->microbatch_size);
      return;
    }
    const TransformerShape& shape = probe.transformer.setup->shape;
    request_.heads = shape.heads;
    request_.experts = shape.experts;
  }

  void read_batch() {
    if (flags_.global_batch) {
      plan_.global_batch = *flags_.global_batch;
      if (plan_.global_batch < 1 || plan_.global_batch > kLargestBatch) {
        throw InputError(Diagnostic{"C012", "--global-batch",
                                    "a step has 1 to " + std::to_string(kLargestBatch) + " samples",
                                    "write it like --global-batch 1024"});
      }
      return;
    }
    const std::int64_t samples =
        request_.sequence > 0 ? kUsualTokens / request_.sequence : 16 * plan_.gpus * request_.microbatch;
    plan_.global_batch =
        static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, samples))));
    assume(plan_.assumptions, "samples of one step",
           std::to_string(plan_.global_batch) + (request_.sequence > 0 ? ": 4 Mi tokens" : ": 16 microbatches per GPU"),
           Source::kDefault);
  }

  // The best that each framework runs; with a budget, of what was simulated in its time.
  void search_frameworks(PlanSearch& search) {
    SearchOptions options = options_;
    if (options.budget) options.budget = 0;
    for (const char* const framework : {"Megatron-LM", "torchtitan", "DeepSpeed"}) {
      progress_.phase(std::string("the best that ") + framework + " runs");
      const auto is_run = [&](const PlanChoice& choice) { return can_run(choice, framework); };
      const SearchResult found = search.run(options, progress_, is_run);
      Alternative one{std::string("runs in ") + framework + " today", std::nullopt};
      if (!found.runs.empty()) one.run = found.runs.front();
      plan_.alternatives.push_back(one);
    }
  }

  // Among all that was simulated: what a framework runs is among it, with a budget or without.
  void add_simplest() {
    const PlannedRun& best = plan_.search.runs.front();
    const PlannedRun* simplest = &best;
    const PlannedRun* smallest = &best;
    for (const PlannedRun& run : plan_.search.runs) {
      const bool quick = static_cast<double>(run.step) <= kSimpleEnough * static_cast<double>(best.step);
      const auto order = [](const PlannedRun& one) { return std::pair(complexity(one.choice), one.step); };
      if (quick && order(run) < order(*simplest)) simplest = &run;
      if (quick && run.peak < smallest->peak) smallest = &run;
    }
    plan_.alternatives.push_back({"simplest within 10 % of the best step", *simplest});
    plan_.alternatives.push_back({"least memory within 10 %, of those simulated", *smallest});
  }

  void show_best() {
    const PlanChoice& choice = plan_.search.runs.front().choice;
    progress_.phase("simulating the best once more");
    const Scenario scenario = check_scenario(flags_of(choice, plan_.job));
    plan_.best = simulate(scenario, choice.schedule, progress_);
    plan_.frameworks = framework_flags(choice, plan_.best->job, *scenario.profile, plan_.global_batch);
  }

  void find_enough_gpus() {
    for (int times = 2; times <= 16; times *= 2) {
      PlanRequest more = request_;
      more.gpus = plan_.gpus * times;
      if (more.gpus > kMostGpus) return;
      if (chosen_topology_)
        more.job.cluster.topology = usual_cluster(more.job.transformer.hardware, more.gpus).topology;
      try {
        SearchOptions options = options_;
        options.gap = 1;  // anything that fits
        if (options.budget) options.budget = std::max(0.0, *options.budget - seconds_since(begin_));
        PlanSearch search(more, plan_space(more));
        const SearchResult found = search.run(options, progress_);
        if (found.runs.empty() && found.interrupted) return;  // so many could be enough, or not
        if (found.runs.empty()) continue;
        plan_.enough_gpus = more.gpus;
        return;
      } catch (const InputError&) {
        return;  // what is fixed does not go with more GPUs, or the cluster that was given has no more
      }
    }
  }

  const PlanFlags& flags_;
  Progress& progress_;
  PlanRequest request_;
  SearchOptions options_;
  bool chosen_topology_ = false;
  std::chrono::steady_clock::time_point begin_;  // of the search
  Plan plan_;
};

}  // namespace

FlagRows flag_rows(PlanFlags& flags) {
  constexpr std::string_view kGroup = "Plan";
  return {
      {.name = "--gpus",
       .group = kGroup,
       .type = "N",
       .help = "GPUs of the job",
       .target = &flags.gpus,
       .required = true},
      {.name = "--global-batch",
       .group = kGroup,
       .type = "N",
       .help = "samples of one step",
       .default_text = "4 Mi tokens",
       .target = &flags.global_batch},
      {.name = "--fix",
       .group = kGroup,
       .type = "KEY=VALUE,",
       .help = "fixed: tp, cp, ep, pp, dp, zero, microbatch, ...",
       .target = &flags.fix,
       .count = FlagCount::kAll},
      {.name = "--only",
       .group = kGroup,
       .type = "KEY=VALUE,VALUE,",
       .help = "only these: schedule=1f1b,interleaved",
       .target = &flags.only,
       .count = FlagCount::kAll},
      {.name = "--runs-in",
       .group = kGroup,
       .words = "megatron|torchtitan|deepspeed|pytorch",
       .help = "only schedules that it runs today",
       .target = &flags.runs_in},
      {.name = "--objective",
       .group = kGroup,
       .type = "WHAT",
       .words = "step|throughput|cost|memory",
       .help = "least of: step (default), cost, memory",
       .target = &flags.objective},
      {.name = "--price",
       .group = kGroup,
       .type = "X",
       .help = "price of a GPU hour: also print the cost",
       .target = &flags.price},
      {.name = "--gap",
       .group = kGroup,
       .type = "PERCENT",
       .help = "end when no more is to be gained",
       .default_text = "1%",
       .target = &flags.gap},
      {.name = "--budget",
       .group = kGroup,
       .unit = FlagUnit::kSeconds,
       .help = "time for the search",
       .default_text = "none",
       .target = &flags.budget},
      {.name = "--threads",
       .group = kGroup,
       .type = "N",
       .help = "threads, same answer",
       .default_text = "the cores",
       .target = &flags.threads},
  };
}

Plan make_plan(const ScenarioFlags& job, const PlanFlags& flags, Progress& progress) {
  return PlanMaker(job, flags, progress).run();
}

std::optional<double> cost_of(const Plan& plan, const PlannedRun& run) {
  if (!plan.price || !run.samples_per_second) return std::nullopt;
  const double per_second = *plan.price * plan.gpus / 3600;
  if (run.tokens_per_second) return per_second / *run.tokens_per_second * 1e6;
  return per_second / *run.samples_per_second * 1e3;
}

}  // namespace debubble
