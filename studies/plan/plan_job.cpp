#include "studies/plan/plan_job.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <memory>
#include <utility>

#include "formats/text/choice.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/assumptions.hpp"
#include "scenario/job/layer_cut.hpp"
#include "scenario/job/model_profile.hpp"
#include "scenario/request/catalog_names.hpp"
#include "scenario/request/stage_list.hpp"
#include "schedules/catalog.hpp"
#include "schedules/common/request.hpp"
#include "sim/core/error.hpp"
#include "sim/core/keyed_list.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"
#include "sim/core/words.hpp"
#include "studies/compare/runs_today.hpp"
#include "studies/parallel.hpp"
#include "studies/plan/variants.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kUsualTokens = std::int64_t{1} << 22;  // of one step
constexpr double kUsualGap = 0.01;
constexpr double kUsualMargin = 0.05;
constexpr double kMostMargin = 90;                                   // percent
constexpr std::int64_t kLargestBatch = (std::int64_t{1} << 31) - 1;  // counts of microbatches are int

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

[[noreturn]] void refuse_twice(const std::string& key, const std::string& place) {
  throw InputError(Diagnostic{"C007", place, "\"" + key + "\" is given twice", "give each once"});
}

// `place` names the flag and, where it has several, the key.
void allow(PlanRequest& request, const std::string& key, std::vector<std::string> values, const std::string& place) {
  if (!request.allowed.emplace(key, std::move(values)).second) refuse_twice(key, place);
  request.places.emplace(key, place);
}

// "tp=4,pp=8"; of --only "schedule=1f1b,interleaved": what has no '=' is another value of the key before it.
void read_allowed(const std::vector<std::string>& lists, const std::string& flag, bool several, PlanRequest& request) {
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
      if (named && here.contains(key)) refuse_twice(key, flag);
      here[key].push_back(value);
    }
    for (auto& [name, values] : here) allow(request, name, std::move(values), flag + " " + name);
  }
}

// A flag of the training step that no ZeRO stage in the space has a use for would be lost without a word.
void refuse_idle_step_flags(const PlanRequest& request) {
  std::vector<std::string> zeros{"0", "1", "2", "3"};
  const auto named = request.allowed.find("zero");
  if (named != request.allowed.end()) zeros = named->second;
  if (request.gpus == 1) zeros = {"0"};
  std::string idle;
  for (const std::string& word : zeros) {
    StepFlags step = request.job.step;
    idle = leave_out_idle(static_cast<int>(count_of(word, 3).value_or(0)), step);
    if (idle.empty()) return;
  }
  fail("C004", idle, "it changes nothing with any ZeRO stage that is left", "leave it out, or leave zero open");
}

// What a flag of the job fixes is taken off the job: choices set it.
void take_fixed(PlanRequest& request) {
  ScenarioFlags& job = request.job;
  const auto take = [&](std::optional<int>& flag, const char* key, const char* place) {
    if (flag) allow(request, key, {std::to_string(*flag)}, place);
    flag.reset();
  };
  take(job.devices, "pp", "--devices");
  take(job.chunks, "chunks", "--chunks");
  take(job.cluster.tensor, "tp", "--tp");
  take(job.cluster.context, "cp", "--cp");
  take(job.cluster.expert, "ep", "--ep");
  take(job.cluster.data, "dp", "--dp");
  take(job.cluster.zero, "zero", "--zero");
  if (job.cluster.sequence_parallel) allow(request, "sequence-parallel", {"on"}, "--sequence-parallel");
  job.cluster.sequence_parallel = false;
  if (!job.schedules.empty()) allow(request, "schedule", std::move(job.schedules), "--schedules");
  job.schedules.clear();
  const KeyedForm form{.place = "--param", .example = "write it like --param memory_limit=2p", .values_needed = true};
  read_keyed_list(job.params, form, [&](const std::string& key, const std::string& value) {
    allow(request, key, {value}, "--param " + key);
  });
  job.params.clear();
  if (!job.cluster.rank_order.empty()) {
    std::string word = job.cluster.rank_order;
    std::replace(word.begin(), word.end(), ',', '-');
    allow(request, "rank-order", {word}, "--rank-order");
  }
  job.cluster.rank_order.clear();
  if (!job.partition.empty()) allow(request, "partition", {job.partition}, "--partition");
  job.partition.clear();
  if (!job.transformer.recompute.empty()) {
    const std::string& stages = job.transformer.recompute_stages;
    if (!stages.empty()) (void)parse_stage_list(stages, "--recompute-stages");
    allow(request, "recompute", {job.transformer.recompute + (stages.empty() ? "" : ":" + stages)}, "--recompute");
    job.transformer.recompute_stages.clear();
    job.transformer.recompute_open = true;
  }
  job.transformer.recompute.clear();
  if (job.transformer.model.empty() || !job.transformer.microbatch_size) return;
  allow(request, "microbatch", {std::to_string(*job.transformer.microbatch_size)}, "--microbatch-size");
  job.transformer.microbatch_size.reset();
}

void refuse_decided(const ScenarioFlags& job) {
  if (!job.transforms.empty()) {
    throw InputError(Diagnostic{"C087", "--transform", "a plan compares schedules as they are", "leave it out"});
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
  if (!asked) return 0;
  if (*asked >= 1 && *asked <= kMostThreads) return *asked;
  throw InputError(Diagnostic{"C012", "--threads", std::to_string(*asked) + " threads cannot be used",
                              "from 1 to " + std::to_string(kMostThreads) + "; without it one per core"});
}

void refuse_unknown_memory(const Scenario& scenario, const Allowed& allowed) {
  const auto cuts = allowed.find("partition");
  if (cuts == allowed.end()) return;
  if (std::find(cuts->second.begin(), cuts->second.end(), kMemoryCut) == cuts->second.end()) return;
  using From = MemoryScenario::From;
  const From from = scenario.memory.from;
  if (from == From::kNothing || (from == From::kModel && !scenario.transformer.setup)) refuse_unknown_room();
}

class PlanReader {
 public:
  PlanReader(const ScenarioFlags& job, const PlanFlags& flags) : flags_(flags) {
    read_.request.job = job;
    read_.flags = flags;
  }

  PlanJob run() {
    read_own();
    read_.request.job.cluster.known = std::make_shared<KnownTopologies>();  // a script's job is another one
    read_gpus();
    refuse_decided(read_.request.job);
    read_.request.job.variation.equal_ranks = true;  // as for the flags above: bounds know no slow devices
    if (!flags_.objective.empty()) {
      const std::size_t word = choice_of(flags_.objective, "step|throughput|cost|memory", "--objective");
      read_.options.objective = word == 3 ? PlanObjective::kMemory : PlanObjective::kStep;
    }
    if (!flags_.price.empty()) read_.price = parse_number(flags_.price, "--price", 1e6, "2.5");
    // Who says what the allocator takes beyond its replay has said what is to stay free.
    const double usual = read_.request.job.memory.reserve.empty() ? kUsualMargin : 0;
    read_.request.margin =
        flags_.margin.empty() ? usual : parse_number(flags_.margin, "--margin", kMostMargin, "5%") / 100;
    read_.options.gap = flags_.gap.empty() ? kUsualGap : parse_number(flags_.gap, "--gap", 100, "1%") / 100;
    read_.options.threads = threads_of(flags_.threads);
    if (!flags_.budget.empty()) read_.options.budget = parse_budget(flags_.budget);
    if (!flags_.runs_in.empty()) {
      read_.request.runs_in = parse_framework(flags_.runs_in, "--runs-in");
      read_.request.job.framework = read_.request.runs_in;
    }
    read_allowed(flags_.fix, "--fix", false, read_.request);
    read_allowed(flags_.only, "--only", true, read_.request);
    take_fixed(read_.request);
    refuse_idle_step_flags(read_.request);
    settle_schedules();
    choose_cluster(read_.request.gpus);
    read_model();
    check_own();
    read_batch();
    fit_own();
    return std::move(read_);
  }

 private:
  // A run that is there already. What the flags of one fix otherwise is open: only --fix and --only fix.
  void read_own() {
    ScenarioFlags& job = read_.request.job;
    const bool by_flags = job.microbatches.has_value();
    if (!flags_.script.empty()) {
      read_.own = read_own_run(flags_, job);
    } else if (by_flags) {
      read_.own = take_own_run(job, "the flags");
    } else {
      return;
    }
    own_by_flags_ = by_flags;
  }

  void read_gpus() {
    if (!flags_.gpus && !read_.own) {
      throw InputError(Diagnostic{"C061", "debubble plan", "--gpus N is missing",
                                  "write it like --gpus 64, or give a run that is there: --script train.sh; the best "
                                  "order of a given pipeline needs none: debubble plan --schedule-only -p 4 -m 8"});
    }
    read_.request.gpus = flags_.gpus ? *flags_.gpus : read_.own->gpus;
    if (read_.request.gpus < 1 || read_.request.gpus > kMostGpus) {
      throw InputError(Diagnostic{"C012", "--gpus", "a plan is for 1 to " + std::to_string(kMostGpus) + " GPUs",
                                  "write it like --gpus 64"});
    }
  }

  // Flags that say another number than the run itself are a contradiction; a file's run is made larger or smaller.
  void check_own() {
    if (!read_.own || !own_by_flags_) return;
    const OwnRun& own = *read_.own;
    if (flags_.gpus.value_or(own.gpus) == own.gpus &&
        flags_.global_batch.value_or(own.global_batch) == own.global_batch)
      return;
    throw InputError(Diagnostic{
        "C087", "--microbatches",
        "with it the flags say a whole run, on " + counted(own.gpus, "GPU") + " with " +
            counted(own.global_batch, "sample") + " per step, and --gpus or --global-batch say something else",
        "leave --microbatches out, which a plan finds itself, or give the run's file as --script"});
  }

  // After the batch is known.
  void fit_own() {
    if (!read_.own || resize_own_run(*read_.own, read_.request.gpus, read_.request.global_batch)) return;
    assume(read_.assumptions, "your run",
           "not compared: its ranks and microbatches do not divide this many GPUs and samples", Source::kGiven);
    read_.own_left_out = read_.own->name + ": " + to_string(read_.own->choice) + ": not compared, for " +
                         counted(read_.request.gpus, "GPU") + " and " + counted(read_.request.global_batch, "sample") +
                         " do not come out even";
    read_.own.reset();
  }

  // By the names that the catalog has: "interleaved" of "Interleaved1F1B".
  void settle_schedules() {
    const auto named = read_.request.allowed.find("schedule");
    if (named == read_.request.allowed.end()) return;
    std::vector<std::string>& names = named->second;
    for (std::string& name : names) name = known_schedule(name, place_of(read_.request, "schedule")).name;
    leave_out_asynchronous(names);
  }

  // Their gradients are of older weights, so a step of theirs is none of the same training: beside others they are left
  // out.
  void leave_out_asynchronous(std::vector<std::string>& names) {
    const auto asynchronous = [](const std::string& name) {
      return find_schedule(name)->family == ScheduleFamily::kAsynchronous;
    };
    if (std::all_of(names.begin(), names.end(), asynchronous)) return;
    std::copy_if(names.begin(), names.end(), std::back_inserter(read_.left_out), asynchronous);
    std::erase_if(names, asynchronous);
  }

  void choose_cluster(int gpus) {
    if (read_.request.job.cluster.topology != ClusterFlags{}.topology || read_.request.job.transformer.model.empty())
      return;
    const UsualCluster cluster = usual_cluster(read_.request.job.transformer.hardware, gpus);
    read_.request.machine = cluster.machine;
    if (cluster.topology.empty()) return;
    read_.request.job.cluster.topology = cluster.topology;
    read_.chosen_topology = true;
    assume(read_.assumptions, "topology", cluster.topology, Source::kDefault);
  }

  void read_model() {
    ScenarioFlags smallest = read_.request.job;  // any pipeline tells the model; the usual one may need more GPUs
    smallest.devices = 1;
    const Scenario probe = check_scenario(smallest);
    refuse_unknown_memory(probe, read_.request.allowed);
    const ClusterFlags& cluster = read_.request.job.cluster;
    if (probe.cluster.graph == nullptr) {
      read_.request.alike = kMostGpus;
    } else if (cluster.rank_devices.empty()) {
      read_.request.alike = alike_machine(cluster.topology);
    }
    read_.unequal_ranks = !probe.profile->ranks.empty();
    read_.request.layers = static_cast<int>(probe.profile->layers.size());
    read_.request.sequence = probe.profile->sequence_length;
    read_rules(probe);
    if (!probe.transformer.setup) {
      read_.request.microbatch = std::max<std::int64_t>(1, probe.profile->microbatch_size);
      if (read_.own) set_own_microbatch(*read_.own, read_.request.microbatch);
      return;
    }
    const TransformerShape& shape = probe.transformer.setup->shape;
    read_.request.heads = shape.heads;
    read_.request.experts = shape.experts;
  }

  // Of the exchange beside the other pass, which a simulation takes without being asked.
  void take_warmup(OwnRun& own) const {
    const std::string extra = exchange_warmup(read_.request.framework_job, read_.request.runs_in);
    const ScheduleEntry* const entry = find_schedule(own.choice.schedule);
    if (extra.empty() || entry == nullptr || !has_param(*entry, kExtraWarmup)) return;
    std::vector<std::string>& params = own.choice.params;
    const std::string name = std::string(kExtraWarmup) + "=";
    const bool given =
        std::any_of(params.begin(), params.end(), [&](const std::string& one) { return one.starts_with(name); });
    if (!given) params.push_back(name + extra);
  }

  void read_rules(const Scenario& probe) {
    PlanRequest& request = read_.request;
    request.framework_job = framework_job(probe);
    request.framework_job.modules = request.job.transformer.recompute_modules;
    request.framework_job.blocks = request.job.transformer.recompute_blocks;
    if (read_.own) take_warmup(*read_.own);
    if (request.runs_in.empty()) return;
    request.rules = std::make_shared<const RunRules>(request.runs_in, request.framework_job);
  }

  void read_batch() {
    if (flags_.global_batch) {
      read_.request.global_batch = *flags_.global_batch;
      if (read_.request.global_batch < 1 || read_.request.global_batch > kLargestBatch) {
        throw InputError(Diagnostic{"C012", "--global-batch",
                                    "a step has 1 to " + std::to_string(kLargestBatch) + " samples",
                                    "write it like --global-batch 1024"});
      }
      return;
    }
    if (read_.own) {
      read_.request.global_batch = read_.own->global_batch;
      return;
    }
    const std::int64_t samples = read_.request.sequence > 0 ? kUsualTokens / read_.request.sequence
                                                            : 16 * read_.request.gpus * read_.request.microbatch;
    read_.request.global_batch =
        static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, samples))));
    assume(read_.assumptions, "samples of one step",
           std::to_string(read_.request.global_batch) +
               (read_.request.sequence > 0 ? ": 4 Mi tokens" : ": 16 microbatches per GPU"),
           Source::kDefault);
  }

  const PlanFlags& flags_;
  PlanJob read_;
  bool own_by_flags_ = false;
};

}  // namespace

PlanJob read_plan(const ScenarioFlags& job, const PlanFlags& flags) { return PlanReader(job, flags).run(); }

}  // namespace debubble
