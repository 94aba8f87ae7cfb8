#include "studies/plan/choice.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "cost_models/recompute_rule.hpp"
#include "formats/run/run_words.hpp"
#include "formats/text/shell.hpp"
#include "scenario/check_scenario.hpp"
#include "schedules/catalog.hpp"
#include "schedules/frameworks.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

// A rank without copies updates its weights, too: every choice is the same training step.
bool needs_step(const PlanChoice& choice, const StepFlags& step) {
  if (!step.step.empty() || choice.data > 1 || choice.context > 1) return false;
  const ScheduleEntry* const entry = find_schedule(choice.schedule);
  return entry == nullptr || entry->family != ScheduleFamily::kAsynchronous;
}

// Those of the framework that runs it, so that a command without it says them.
void take_transfers(const PlanChoice& choice, ScenarioFlags& flags) {
  if (flags.p2p != ScenarioFlags{}.p2p || choice.pipeline < 2 || flags.framework.empty()) return;
  constexpr std::string_view kGroup = "group=";
  std::string group;
  for (const std::string& param : flags.params) {
    if (param.starts_with(kGroup)) group = param.substr(kGroup.size());
  }
  const bool large = has_large_groups(choice.schedule, group, choice.pipeline);
  const P2p p2p = transfers_in(flags.framework, choice.schedule, large);
  if (p2p != P2p::kOverlapped) flags.p2p = to_word(p2p);
}

}  // namespace

std::string leave_out_idle(int zero, StepFlags& step) {
  std::string idle;
  const auto leave_out = [&idle](const char* name, auto& flag) {
    if (flag == std::decay_t<decltype(flag)>{}) return;
    flag = {};
    idle = name;
  };
  const bool times = step.step.find('=') != std::string::npos;
  if (zero > 1 && !step.keep_whole) leave_out("--overlap-grad-reduce", step.overlap_reduce);
  if (zero == 0 || (zero == 3 && !step.keep_whole)) leave_out("--overlap-param-gather", step.overlap_gather);
  if (zero < 2) leave_out("--keep-whole", step.keep_whole);
  if (zero == 0 && !times) leave_out("--gather", step.gather);
  if (!step.overlap_reduce && !step.overlap_gather && !idle.empty()) step.bucket_size.clear();
  return idle;
}

ScenarioFlags flags_of(const PlanChoice& choice, const ScenarioFlags& job) {
  ScenarioFlags flags = job;
  flags.schedules = {choice.schedule};
  flags.devices = choice.pipeline;
  flags.microbatches = choice.microbatches;
  const bool said = !chunks_flag(choice.schedule, choice.chunks).empty();
  flags.chunks = said ? std::optional<int>(choice.chunks) : std::nullopt;
  const auto ranks = [](int count) { return count > 1 ? std::optional<int>(count) : std::nullopt; };
  flags.cluster.tensor = ranks(choice.tensor);
  flags.cluster.context = ranks(choice.context);
  flags.cluster.expert = ranks(choice.expert);
  flags.cluster.data = ranks(choice.data);
  flags.cluster.zero = choice.zero > 0 ? std::optional<int>(choice.zero) : std::nullopt;
  flags.cluster.sequence_parallel = choice.sequence;
  if (needs_step(choice, flags.step)) flags.step.step = "on";
  (void)leave_out_idle(choice.zero, flags.step);
  if (!choice.params.empty()) flags.params = choice.params;
  take_transfers(choice, flags);
  if (!choice.partition.empty()) flags.partition = choice.partition;
  if (!choice.rank_order.empty()) {
    flags.cluster.rank_order = choice.rank_order;
    std::replace(flags.cluster.rank_order.begin(), flags.cluster.rank_order.end(), '-', ',');
  }
  if (flags.transformer.model.empty()) return flags;
  flags.transformer.microbatch_size = choice.microbatch;
  flags.transformer.recompute = choice.recompute == 0 ? "" : kRecomputeWords[choice.recompute];
  flags.transformer.recompute_stages = choice.recompute_stages;
  if (choice.recompute == 0) flags.transformer.recompute_blocks.clear();
  if (choice.recompute_first > 0) flags.transformer.recompute_blocks = blocks_word(choice);
  if (choice.recompute != 1) flags.transformer.recompute_modules.clear();  // those of --recompute selective
  return flags;
}

FrameworkChoice framework_choice(const PlanChoice& choice) {
  FrameworkChoice seen;
  seen.schedule = choice.schedule;
  seen.params = choice.params;
  seen.tensor = choice.tensor;
  seen.context = choice.context;
  seen.expert = choice.expert;
  seen.pipeline = choice.pipeline;
  seen.chunks = choice.chunks;
  seen.data = choice.data;
  seen.zero = choice.zero;
  seen.sequence = choice.sequence;
  seen.microbatch = choice.microbatch;
  seen.microbatches = choice.microbatches;
  seen.recompute = choice.recompute;
  seen.recompute_stages = choice.recompute_stages;
  seen.blocks = blocks_word(choice);
  seen.rank_order = choice.rank_order;
  return seen;
}

std::string what_recomputes(const PlanChoice& choice) {
  if (choice.recompute_first > 0) {
    return " " + to_string(RecomputeRule{RecomputeRule::How::kFirst, choice.recompute_first});
  }
  const std::string& stages = choice.recompute_stages;
  return stages.empty() ? "" : (stages == "0" ? " on stage " : " on stages ") + stages;
}

std::string blocks_word(const PlanChoice& choice) {
  return choice.recompute_first > 0 ? "first:" + std::to_string(choice.recompute_first) : "";
}

std::string to_string(const PlanChoice& choice) {
  std::string text;
  const auto add = [&](const char* separator, const std::string& part) {
    text += (text.empty() ? "" : separator) + part;
  };
  const auto ranks = [&](const char* name, int count) {
    if (count > 1) add(", ", std::string(name) + " " + std::to_string(count));
  };
  ranks("tp", choice.tensor);
  ranks("cp", choice.context);
  ranks("ep", choice.expert);
  ranks("pp", choice.pipeline);
  ranks("dp", choice.data);
  if (choice.zero > 0) add(", ", "ZeRO-" + std::to_string(choice.zero));
  if (choice.pipeline > 1) {
    add("; ", choice.schedule);
    if (choice.chunks > 1) add(", ", std::to_string(choice.chunks) + " stages per device");
    for (const std::string& param : choice.params) add(", ", param);
  }
  add("; ", counted(choice.microbatches, "microbatch") + " of " + counted(choice.microbatch, "sample"));
  if (choice.recompute > 0) add("; ", std::string(kRecomputeWords[choice.recompute]) + " recomputation");
  text += what_recomputes(choice);
  if (!choice.partition.empty()) add("; ", "partition " + choice.partition);
  if (!choice.rank_order.empty()) add("; ", "ranks in the order " + choice.rank_order);
  return text;
}

std::string command_of(const PlanChoice& choice, const ScenarioFlags& job) {
  std::string command = "debubble simulate";
  const ScenarioFlags flags = flags_of(choice, job);
  if (choice.pipeline > 1) command += " --schedule " + shell_file(choice.schedule);
  command += " -p " + std::to_string(choice.pipeline) + " -m " + std::to_string(choice.microbatches);
  if (flags.chunks) command += " -v " + std::to_string(*flags.chunks);
  if (!flags.partition.empty()) command += " --partition " + shell_quoted(flags.partition);
  const std::string repeated = repeated_flags(flags);
  return repeated.empty() ? command : command + " " + repeated;
}

int complexity(const PlanChoice& choice) {
  const int split = (choice.tensor > 1 ? 1 : 0) + (choice.context > 1 ? 2 : 0) + (choice.pipeline > 1 ? 1 : 0);
  const int sharded = choice.zero > 1 ? 2 : 0;
  const int order = choice.schedule == "1f1b" ? 0 : choice.schedule == "interleaved" ? 1 : 3;
  const int unusual = (choice.params.empty() ? 0 : 1) + (choice.rank_order.empty() ? 0 : 1) +
                      (choice.partition.empty() ? 0 : 1) + (what_recomputes(choice).empty() ? 0 : 1);
  return split + sharded + order + unusual + (choice.chunks > 2 ? 1 : 0) + (choice.recompute > 0 ? 1 : 0);
}

}  // namespace debubble
