#include "studies/paste/fields.hpp"

#include <algorithm>

#include "cost_models/partition/blocks.hpp"
#include "formats/run/run_words.hpp"
#include "scenario/check_scenario.hpp"
#include "schedules/catalog.hpp"
#include "schedules/frameworks.hpp"
#include "sim/core/word_list.hpp"

namespace debubble {
namespace {

FlagRows rows_of_copy(ScenarioFlags& flags) { return flag_rows(flags); }

}  // namespace

RunToPaste::RunToPaste(const ScenarioFlags& flags, const Scenario& of_flags, const Job& made)
    : scenario(of_flags),
      job(made),
      setup(of_flags.transformer.setup ? &*of_flags.transformer.setup : nullptr),
      sizes(made.sizes),
      schedule(of_flags.schedules.empty() ? "1f1b" : of_flags.schedules.front()),
      entry(find_schedule(schedule)),
      pipeline(std::max(1, made.schedule.devices)),
      chunks(std::max(1, made.schedule.stages / pipeline)),
      microbatches(made.schedule.microbatches),
      microbatch(setup != nullptr ? setup->microbatch_size : std::max<std::int64_t>(1, made.samples_per_microbatch)),
      batch(microbatch * microbatches * sizes.data),
      flags_(flags),
      rows_(rows_of_copy(flags_)) {}

std::string RunToPaste::typed(std::string_view flag) const {
  const Flag* const row = find_flag(rows_, flag);
  if (row == nullptr || !is_given(*row)) return "";
  std::string text;
  for (const std::string& value : values_of(*row)) text += (text.empty() ? "" : ",") + value;
  return text.empty() ? "true" : text;
}

std::vector<int> RunToPaste::whole_ends() const {
  if (!scenario.profile) return job.partition;
  const LayerCounts counts = count_layers(*scenario.profile);
  const int head = counts.embedding + counts.blocks + (counts.predictors_last ? 0 : counts.predictors);
  const int end = head + counts.head + (counts.predictors_last ? counts.predictors : 0);
  std::vector<int> layers;
  int cut = 0;
  int before = 0;
  for (const int size : job.partition) {
    cut += size;
    const int moved = cut < counts.embedding ? counts.embedding : cut > head && cut < end ? head : cut;
    layers.push_back(moved - before);
    before = moved;
  }
  return layers;
}

std::string has_no_argument(const RunToPaste& run, std::string_view field) {
  const std::string value = run.typed(field);
  return "has no argument for " + std::string(field) + (value == "true" ? "" : " " + value);
}

void note_given(const RunToPaste& run, PastePart& part) {
  if (!run.typed(part.field).empty()) part.note(has_no_argument(run, part.field));
}

void refuse_given(const RunToPaste& run, PastePart& part) {
  if (!run.typed(part.field).empty()) part.refusal = has_no_argument(run, part.field);
}

void refuse_schedule(const RunToPaste& run, const std::string& framework, PastePart& part) {
  if (run.entry == nullptr) part.refusal = "does not run the table " + run.schedule;
  if (run.entry == nullptr || run.pipeline == 1) return;
  if (!names_framework(run.entry->frameworks, framework)) part.refusal = "does not run " + run.schedule;
}

void note_transfers(const RunToPaste& run, const std::string& framework, PastePart& part) {
  const P2p theirs = run.entry == nullptr ? P2p::kLate : transfers_in(framework, run.schedule, false);
  if (run.pipeline == 1 || run.job.p2p == theirs) return;
  part.note("its transfers are others: --p2p " + std::string(to_word(theirs)) + " simulates them");
}

void add_common_rows(std::vector<FieldRow>& rows) {
  for (const std::string_view aside :
       words_in("--chunks --global-batch --times --comm --bandwidth --host-bandwidth --w-share --profile --model "
                "--model-size --hardware --efficiency --kernels --host-launch --calibrate --topology --network "
                "--transfer-latency --transfer-bandwidth --step --slow-down --optimizer-bandwidth --tied-embedding "
                "--memory --memory-outside --allocator-reserve --slow --factors --jitter --seed --expert-imbalance")) {
    rows.push_back({aside, nullptr});
  }
  for (const char* const noted : {"--collective", "--density", "--grad-reduce", "--gather"}) {
    rows.push_back({noted, note_given});
  }
  rows.push_back({"--recompute-stages", nullptr});
  rows.push_back({"--transform", refuse_given});
  rows.push_back({"--rank-devices", [](const RunToPaste& run, PastePart& part) {
                    if (!run.typed(part.field).empty()) part.note("which GPU a rank is on is the launcher's to say");
                  }});
  rows.push_back({"--allocator", [](const RunToPaste& run, PastePart& part) {
                    if (run.typed(part.field) == "exact") part.note(has_no_argument(run, part.field));
                  }});
}

const FrameworkTable& framework_table(const std::string& framework) {
  if (framework == "Megatron-LM") return megatron_table();
  return framework == "torchtitan" ? torchtitan_table() : deepspeed_table();
}

}  // namespace debubble
