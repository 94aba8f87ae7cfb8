#include "studies/plan/own_run.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "cost_models/partition/partition.hpp"
#include "formats/files/read_file.hpp"
#include "formats/megatron/scenario_of.hpp"
#include "formats/text/choice.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/request/rank_lists.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/words.hpp"
#include "studies/plan/rank_orders.hpp"
#include "studies/plan/space.hpp"

namespace debubble {
namespace {

constexpr const char* kUsualSchedule = "1f1b";
constexpr std::int64_t kLargestSamples = (std::int64_t{1} << 31) - 1;
constexpr int kLargestCount = 1 << 22;  // of ranks, or microbatches

int recompute_of(const std::string& word) {
  return word.empty() ? 0 : static_cast<int>(choice_of(word, "none|selective|full", "--recompute"));
}

// Of --recompute-blocks first:4; 0: it says something else.
int first_blocks(const std::string& blocks) {
  constexpr std::string_view kFirst = "first:";
  if (!blocks.starts_with(kFirst)) return 0;
  return static_cast<int>(count_of(std::string_view(blocks).substr(kFirst.size()), kLargestCount).value_or(0));
}

// The flag's value, at least `least`; the flag is as if it were not given.
int taken(std::optional<int>& flag, int otherwise, const char* place, int least = 1) {
  const int value = flag.value_or(otherwise);
  flag.reset();
  if (value >= least && value <= kLargestCount) return value;
  throw InputError(Diagnostic{
      "C012", place,
      std::to_string(value) + " is not a number from " + std::to_string(least) + " to " + std::to_string(kLargestCount),
      "give a run that debubble simulate takes"});
}

// KEY = VALUE: in a shell script nothing has blanks around its '='.
bool is_scenario_line(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return false;
  const std::size_t end = line.find_first_of(" \t=[", begin);
  if (end == begin || end == std::string::npos) return line[begin] == '[' && line.find(']') == line.size() - 1;
  const std::size_t equals = line.find_first_not_of(" \t", end);
  return line[end] != '=' && equals != std::string::npos && line[equals] == '=';
}

// By its name, or by its first line that is neither blank nor a comment.
bool is_scenario_file(const std::string& text, const std::string& name) {
  if (name.ends_with(".toml")) return true;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin != std::string::npos && line[begin] != '#') return is_scenario_line(line);
  }
  return false;
}

// What the reader says names flags that import has: here these are others, or none.
std::string with_import(std::string said) {
  std::size_t first = said.size();
  for (const char* flag : {"--args ", "--set ", "--file ", "--gpus ", "--arguments-only"}) {
    first = std::min(first, said.find(flag));
  }
  return first == said.size() ? said : said.insert(first, "debubble import's ");
}

MegatronScenario read_own_megatron(const std::string& text, const std::string& file) {
  try {
    return read_megatron(text, file);
  } catch (const InputError& error) {
    std::vector<Diagnostic> told = error.diagnostics();
    for (Diagnostic& one : told) {
      for (std::string* const said : {&one.message, &one.help}) *said = with_import(std::move(*said));
    }
    throw InputError(std::move(told));
  }
}

ScenarioFlags flags_of_megatron(const std::string& text, const std::string& file, OwnRun& run) {
  const MegatronScenario translated = read_own_megatron(text, file);
  for (const std::string& note : translated.findings) run.notes.push_back(with_import(note));
  run.measured = translated.measured_iteration;
  std::vector<std::string> arguments;
  for (const auto& [name, value] : translated.flags) {
    arguments.push_back("--" + name + (value == "true" ? "" : "=" + value));
  }
  ScenarioFlags flags;
  try {
    set_flags(flag_rows(flags), arguments);
  } catch (const std::invalid_argument&) {
    throw InputError(Diagnostic{"P012", file, "the arguments give a number that is too large for a scenario",
                                "check the sizes, ranks and batches among the arguments"});
  }
  return flags;
}

// What the command line says takes the place of what the file says.
void overlay(const ScenarioFlags& typed, ScenarioFlags& under) {
  ScenarioFlags over = typed;
  const FlagRows from = flag_rows(over);
  const FlagRows to = flag_rows(under);
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (!is_given(from[k])) continue;
    if (auto* const* list = std::get_if<std::vector<std::string>*>(&to[k].target)) (*list)->clear();
    for (const std::string& value : values_of(from[k])) (void)set_flag(to[k], value);
  }
}

// Transfers that one framework alone has, and of one schedule: other schedules have what it has of them.
void take_own_transfers(ScenarioFlags& job) {
  const char* framework = job.p2p == "joined" ? "Megatron-LM" : job.p2p == "rendezvous" ? "DeepSpeed" : "PyTorch";
  if (job.p2p != "joined" && job.p2p != "rendezvous" && job.p2p != "late") return;
  job.p2p = ScenarioFlags{}.p2p;
  if (job.framework.empty()) job.framework = framework;
}

// How many GPUs and samples a step of it takes.
void count_ranks(OwnRun& run) {
  const PlanChoice& choice = run.choice;
  std::int64_t ranks = 1;
  for (const int count : {choice.tensor, choice.context, choice.pipeline, choice.data}) {
    ranks = std::min(ranks * count, std::int64_t{kMostGpus} + 1);
  }
  std::int64_t samples = choice.microbatch;
  for (const int count : {choice.microbatches, choice.data}) {
    samples = std::min(samples, kLargestSamples + 1) * count;
  }
  if (ranks > kMostGpus || choice.microbatch < 1 || samples > kLargestSamples) {
    throw InputError(Diagnostic{"C012", run.name,
                                "a plan is for 1 to " + std::to_string(kMostGpus) + " GPUs and 1 to " +
                                    std::to_string(kLargestSamples) + " samples of a step",
                                "give a run that is no larger"});
  }
  run.gpus = static_cast<int>(ranks);
  run.global_batch = samples;
}

}  // namespace

OwnRun take_own_run(ScenarioFlags& job, std::string name) {
  if (job.schedules.size() > 1 || !job.transforms.empty()) {
    throw InputError(Diagnostic{"C087", job.schedules.size() > 1 ? "--schedules" : "--transform",
                                job.schedules.size() > 1 ? "a run has one schedule" : "a plan has no transforms",
                                "give one schedule and no transform, or leave --microbatches out: a plan finds it"});
  }
  OwnRun run;
  run.name = std::move(name);
  PlanChoice& choice = run.choice;
  choice.pipeline = taken(job.devices, kDefaultDevices, "--devices");
  choice.microbatches = taken(job.microbatches, kDefaultMicrobatches, "--microbatches");
  choice.tensor = taken(job.cluster.tensor, 1, "--tp");
  choice.context = taken(job.cluster.context, 1, "--cp");
  choice.expert = taken(job.cluster.expert, 1, "--ep");
  run.expert_tensor = job.cluster.expert_tensor;
  choice.data = taken(job.cluster.data, 1, "--dp");
  choice.zero = taken(job.cluster.zero, 0, "--zero", 0);
  choice.sequence = std::exchange(job.cluster.sequence_parallel, false);
  choice.schedule = job.schedules.empty() ? kUsualSchedule : job.schedules.front();
  job.schedules.clear();
  const ScheduleEntry* const entry = find_schedule(choice.schedule);
  choice.chunks = taken(job.chunks, entry == nullptr ? 1 : entry->default_chunks, "--chunks");
  choice.params = std::exchange(job.params, {});
  choice.partition = std::exchange(job.partition, {});
  if (!job.cluster.rank_order.empty()) {
    choice.rank_order = rank_order_word(parse_rank_order(job.cluster.rank_order, "--rank-order"));
  }
  job.cluster.rank_order.clear();
  choice.recompute = recompute_of(std::exchange(job.transformer.recompute, {}));
  choice.recompute_stages = std::exchange(job.transformer.recompute_stages, {});
  choice.recompute_first = first_blocks(job.transformer.recompute_blocks);
  if (choice.recompute_first > 0) job.transformer.recompute_blocks.clear();
  job.transformer.recompute_open = choice.recompute > 0;
  if (!job.transformer.model.empty()) {
    choice.microbatch = job.transformer.microbatch_size.value_or(1);
    job.transformer.microbatch_size.reset();
  }
  take_own_transfers(job);
  count_ranks(run);
  return run;
}

void set_own_microbatch(OwnRun& run, std::int64_t samples) {
  run.choice.microbatch = samples;
  count_ranks(run);
}

OwnRun read_own_run(const PlanFlags& flags, ScenarioFlags& job) {
  if (job.microbatches) {
    throw InputError(Diagnostic{"C007", "--microbatches", "--script says a whole run, and --microbatches another one",
                                "leave --microbatches out: a plan finds it"});
  }
  const std::string text = read_file(flags.script, "--script", kMostScriptBytes);
  OwnRun read;
  ScenarioFlags under = is_scenario_file(text, flags.script) ? flags.read_scenario(flags.script)
                                                             : flags_of_megatron(text, flags.script, read);
  OwnRun run = take_own_run(under, flags.script);
  run.notes = std::move(read.notes);
  run.measured = read.measured;
  overlay(job, under);
  job = std::move(under);
  return run;
}

FlagsOverScript flags_over_script(const std::string& text, const std::string& file, const ScenarioFlags& typed) {
  OwnRun unused;
  FlagsOverScript flags{flags_of_megatron(text, file, unused), {}};
  flags.own.transformer.hardware = typed.transformer.hardware;
  flags.own.cluster.topology = typed.cluster.topology;
  ScenarioFlags& wanted = flags.wanted;
  wanted = flags.own;
  const auto ranks = [](const ScenarioFlags& of) {
    return std::int64_t{of.cluster.tensor.value_or(1)} * of.cluster.context.value_or(1) * of.devices.value_or(1);
  };
  const std::int64_t world = ranks(wanted) * wanted.cluster.data.value_or(1);
  const std::int64_t batch = wanted.transformer.microbatch_size.value_or(1) * wanted.cluster.data.value_or(1) *
                             wanted.microbatches.value_or(1);
  const bool pipeline = typed.devices.value_or(wanted.devices.value_or(1)) != wanted.devices.value_or(1) ||
                        typed.chunks.value_or(wanted.chunks.value_or(1)) != wanted.chunks.value_or(1) ||
                        (!typed.schedules.empty() && typed.schedules != wanted.schedules);
  if (pipeline) {
    wanted.chunks.reset();
    wanted.params.clear();
    wanted.p2p = ScenarioFlags{}.p2p;
    if (wanted.partition != kEvenCut) wanted.partition.clear();
  }
  const std::string& recompute = typed.transformer.recompute;
  const bool of_all = recompute == "full" && first_blocks(wanted.transformer.recompute_blocks) > 0;
  if (recompute == "none" || of_all) wanted.transformer.recompute_blocks.clear();
  if (recompute == "none" || recompute == "full") wanted.transformer.recompute_modules.clear();
  if (typed.cluster.tensor == 1) wanted.cluster.sequence_parallel = false;
  if (typed.cluster.zero) (void)leave_out_idle(*typed.cluster.zero, wanted.step);
  overlay(typed, wanted);
  const bool one_stage = wanted.schedules.empty() || wanted.schedules.front() == "1f1b";
  if (typed.p2p == ScenarioFlags{}.p2p && one_stage && wanted.devices.value_or(1) > 1) wanted.p2p = "coupled";
  if (!typed.params.empty() && typed.p2p == ScenarioFlags{}.p2p && !one_stage) {
    wanted.framework = "Megatron-LM";  // of other groups, other exchanges
    if (wanted.p2p == "joined") wanted.p2p = ScenarioFlags{}.p2p;
  }
  if (!typed.cluster.data && world % ranks(wanted) == 0) wanted.cluster.data = static_cast<int>(world / ranks(wanted));
  const std::int64_t samples = wanted.transformer.microbatch_size.value_or(1) * wanted.cluster.data.value_or(1);
  if (!typed.microbatches && batch % samples == 0) wanted.microbatches = static_cast<int>(batch / samples);
  return flags;
}

std::string flags_back_to_default(const PlanChoice& run, const PlanChoice& plan, const std::vector<int>& cut) {
  std::string flags;
  const auto add = [&](bool differs, const std::string& flag) {
    if (differs) flags += " --" + flag;
  };
  add(plan.tensor == 1 && run.tensor != 1, "tp 1");
  add(plan.context == 1 && run.context != 1, "cp 1");
  add(plan.expert == 1 && run.expert != 1, "ep 1");
  add(plan.data == 1 && run.data != 1, "dp 1");
  add(plan.zero == 0 && run.zero != 0, "zero 0");
  add(plan.pipeline == 1 && run.schedule != plan.schedule, "schedule " + plan.schedule);
  add(chunks_flag(plan.schedule, plan.chunks).empty() && run.chunks != plan.chunks,
      "chunks " + std::to_string(plan.chunks));
  add(plan.partition.empty() && !run.partition.empty(),
      "partition " + (cut.size() > 1 ? partition_text(cut) : kBalancedCut));
  add(plan.recompute == 0 && run.recompute != 0, "recompute none");
  return flags;
}

OwnStanding judge_own_run(const OwnRun& run, const PlanRequest& request, const std::vector<PlannedRun>& plans) {
  OwnStanding standing;
  if (!refuse_by_rules(request, run.choice, standing.found)) simulate_choice(request, run.choice, standing.found);
  if (!was_simulated(standing.found)) return standing;
  standing.faster = std::count_if(plans.begin(), plans.end(),
                                  [&](const PlannedRun& plan) { return plan.step < standing.found.run.step; });
  return standing;
}

bool resize_own_run(OwnRun& run, int gpus, std::int64_t global_batch) {
  PlanChoice& choice = run.choice;
  const std::int64_t inner = std::int64_t{choice.tensor} * choice.context * choice.pipeline;
  if (gpus % inner != 0) return false;
  const std::int64_t data = gpus / inner;
  if (global_batch % (data * choice.microbatch) != 0) return false;
  const std::int64_t parts = std::int64_t{run.expert_tensor.value_or(choice.tensor)} * choice.expert;
  if (parts < 1 || data * choice.context * choice.tensor % parts != 0) return false;
  const std::int64_t microbatches = global_batch / (data * choice.microbatch);
  if (gpus != run.gpus || global_batch != run.global_batch) {
    run.notes.push_back(run.name + " is for " + counted(run.gpus, "GPU") + " and " +
                        counted(run.global_batch, "sample") + ": here with dp " + std::to_string(data) + " and " +
                        counted(microbatches, "microbatch"));
  }
  choice.data = static_cast<int>(data);
  choice.microbatches = static_cast<int>(microbatches);
  run.gpus = gpus;
  run.global_batch = global_batch;
  return true;
}

}  // namespace debubble
