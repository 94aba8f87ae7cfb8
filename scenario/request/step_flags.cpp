#include "scenario/request/step_flags.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "scenario/request/checks.hpp"
#include "scenario/request/flag_row.hpp"
#include "scenario/request/step_times.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {

namespace {

double step_number(const std::string& text, const std::string& place, double most, bool zero) {
  const auto number = number_of(text);
  if (number && (zero ? *number >= 0 : *number > 0) && *number <= most) return *number;
  fail("C012", place,
       "\"" + text + "\" is not a number from 0" + (zero ? "" : " (without it)") + " to " +
           std::to_string(static_cast<int>(most)),
       "write it like " + place + " 0.1");
}

void read_words(const StepFlags& flags, StepScenario& scenario, Checks& checks) {
  StepOptions& options = scenario.options;
  StepFlags copy = flags;
  const FlagRows rows = flag_rows(copy);
  checks.run([&] { options.reduce = static_cast<GradientReduce>(word_index(rows, "--grad-reduce")); });
  checks.run([&] { options.algorithm = static_cast<CollectiveAlgorithm>(word_index(rows, "--collective")); });
  checks.run([&] { options.norm = static_cast<NormMode>(word_index(rows, "--norm")); });
  checks.run([&] { options.gather = static_cast<ParameterGather>(word_index(rows, "--gather")); });
  options.keep = flags.keep_whole;
  options.overlap_reduce = flags.overlap_reduce;
  options.overlap_gather = flags.overlap_gather;
  checks.run([&] {
    if (!flags.overlap_reduce || flags.grad_reduce != "at-end") return;
    fail("C009", "--overlap-grad-reduce", "--grad-reduce at-end reduces nothing before the last op",
         "leave one of them out");
  });
  checks.run([&] {
    if (!flags.overlap_gather) return;
    if (flags.gather == "after-optimizer") {
      fail("C009", "--overlap-param-gather", "--gather after-optimizer gathers everything before the first forward",
           "leave one of them out");
    }
    options.gather = ParameterGather::kBeforeForward;
  });
  checks.run([&] {
    if (flags.bucket_size.empty()) return;
    const auto count = count_of(flags.bucket_size, std::int64_t{1} << 50);
    if (!count || *count < 1) {
      fail("C012", "--bucket-size", "\"" + flags.bucket_size + "\" is not a number of parameters",
           "write it like --bucket-size 40000000");
    }
    options.bucket = *count;
  });
}

void read_numbers(const StepFlags& flags, StepScenario& scenario, Checks& checks) {
  checks.run([&] {
    if (!flags.slow_down.empty()) scenario.options.slow_down = step_number(flags.slow_down, "--slow-down", 10, true);
  });
  checks.run([&] {
    if (flags.density.empty()) return;
    scenario.options.density = step_number(flags.density, "--density", 1, false);
    if (flags.collective == "sparse") return;
    fail("C004", "--density", "only a sparse reduction sends a part of the gradients", "add --collective sparse");
  });
  checks.run([&] {
    if (flags.collective != "sparse" || !flags.density.empty()) return;
    fail("C004", "--collective", "a sparse reduction must know which share of the gradients it sends",
         "add --density 0.01");
  });
  checks.run([&] {
    if (flags.optimizer_bandwidth.empty()) return;
    scenario.optimizer_bandwidth = parse_bandwidth(flags.optimizer_bandwidth, "--optimizer-bandwidth");
  });
  checks.run([&] {
    if (!flags.tied_embedding.empty()) scenario.tied_embedding = parse_size(flags.tied_embedding, "--tied-embedding");
  });
}

}  // namespace

FlagRows flag_rows(StepFlags& flags) {
  const FlagGroup row("Step");
  return {
      row("--step", "on|off|LIST", "training step: on, off, or reduce=2,optimizer=0.5", &flags.step, FlagForm::kCommas),
      row("--grad-reduce", "WHEN", "gradient reduction: overlap (default) or at-end", &flags.grad_reduce,
          OneOf{"overlap|at-end"}),
      row("--collective", "NAME", "algorithm: auto, ring, tree, hierarchical, ...", &flags.collective,
          OneOf{"auto|ring|tree|halving-doubling|hierarchical|torus|in-network|sparse"}),
      row("--density", FlagUnit::kShare, "share of gradients sent, --collective sparse", &flags.density),
      row("--norm", "MODE", "norm: barrier (default), post-validation, none", &flags.norm,
          OneOf{"barrier|post-validation|none"}),
      row("--gather", "WHEN", "gather: after-optimizer (default), before-forward", &flags.gather,
          OneOf{"after-optimizer|before-forward"}),
      row("--overlap-grad-reduce", "reduce first stage's gradients in buckets, during B", &flags.overlap_reduce),
      row("--overlap-param-gather", "gather first stage's weights in buckets, during F", &flags.overlap_gather),
      row("--bucket-size", "N", "parameters per bucket", &flags.bucket_size, Default{"max(40M, 1M x dp)"},
          needs({"--overlap-grad-reduce", "--overlap-param-gather"}, "nothing is cut into buckets",
                "add --overlap-grad-reduce or --overlap-param-gather, or leave it out")),
      row("--keep-whole", "ZeRO-2 and 3: shard between steps only", &flags.keep_whole),
      row("--slow-down", FlagUnit::kShare, "compute slowdown while collectives run: 0.15", &flags.slow_down),
      row("--optimizer-bandwidth", FlagUnit::kBandwidth, "memory bandwidth of the optimizer",
          &flags.optimizer_bandwidth),
      row("--tied-embedding", FlagUnit::kSize, "gradient size of a tied embedding", &flags.tied_embedding),
  };
}

bool StepScenario::has_times() const {
  const StepTimes& times = options.times;
  return times.reduce || times.embedding || times.norm || times.optimizer || times.gather;
}

std::string StepScenario::shaping_flag() const {
  StepFlags flags = typed;
  const FlagRows rows = flag_rows(flags);
  const auto found =
      std::find_if(rows.begin(), rows.end(), [](const Flag& flag) { return flag.name != "--step" && is_given(flag); });
  return found == rows.end() ? "" : std::string(found->name);
}

StepScenario check_step(const StepFlags& flags) {
  StepScenario scenario;
  scenario.typed = flags;
  Checks checks;
  checks.run([&] {
    if (flags.step.empty()) return;
    scenario.wanted = flags.step == "off" ? StepScenario::Wanted::kOff : StepScenario::Wanted::kOn;
    if (flags.step != "on" && flags.step != "off") scenario.options.times = parse_step_times(flags.step, "--step");
  });
  read_words(flags, scenario, checks);
  read_numbers(flags, scenario, checks);
  checks.finish();
  return scenario;
}

void refuse_step(const StepScenario& step, const std::string& verb) {
  const std::string flag = step.typed.step.empty() ? step.shaping_flag() : "--step";
  if (flag.empty()) return;
  fail("C087", flag, verb + " runs a real step: a modelled one would change nothing", "leave " + flag + " out");
}

}  // namespace debubble
