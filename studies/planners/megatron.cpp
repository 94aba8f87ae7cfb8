// Megatron-LM's own layout: as many transformer layers on each stage, the embedding before the first, the head after
// the last (get_num_layers_to_build; --account-for-embedding-in-pipeline-split and
// --account-for-loss-in-pipeline-split).
//
//     E tttt|tttt|tttt|tttt L        16 layers on 4 stages; 14 with both accounted for: E ttt|tttt|tttt|ttt L
#include <optional>
#include <string>

#include "sim/core/words.hpp"
#include "studies/planners/contract.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/stages.hpp"

namespace debubble {

namespace {

std::string megatron_flags(const BlockWeights& account) {
  std::string text;
  if (account.embedding > 0) text += "--account-for-embedding-in-pipeline-split";
  if (account.head > 0) text += std::string(text.empty() ? "" : " ") + "--account-for-loss-in-pipeline-split";
  return text;
}

// Plain first, for that is what it does without flags; then the flags with which the layers divide.
std::vector<BlockWeights> accounts_to_try(const PlannerRequest& request) {
  const auto found = request.params.find("account");
  const std::string asked = found == request.params.end() ? "auto" : found->second;
  if (asked == "auto") return {{0, 0}, {1, 1}, {1, 0}, {0, 1}};
  if (asked == "none") return {{0, 0}};
  if (asked == "embedding") return {{1, 0}};
  if (asked == "loss") return {{0, 1}};
  if (asked == "both") return {{1, 1}};
  not_a_planner_word("account", asked, "auto, none, embedding, loss, both");
}

PlannerDecision decide_megatron(const PlannerJob& job, const PlannerRequest& request) {
  const int stages = planner_count(request, "stages", job.device_count(), 1, job.device_count());
  std::vector<LayerRole> roles;
  for (const PlannerLayer& layer : job.layers) roles.push_back(layer.role);
  const LayerCounts counts = count_layers(roles);
  for (const BlockWeights& account : accounts_to_try(request)) {
    const std::optional<std::vector<int>> sizes = even_cut(counts, stages, account);
    if (!sizes) continue;
    PlannerDecision decision;
    decision.stages = stages_of_sizes(*sizes);
    decision.predicted = (counts.blocks + account.embedding + account.head) / stages;
    decision.unit = "places on each stage";
    if (const std::string flags = megatron_flags(account); !flags.empty()) {
      decision.notes.push_back("Megatron-LM needs " + flags + " for this");
    }
    return decision;
  }
  not_for_planner(
      "megatron",
      counted(counts.blocks, "transformer layer") + " cannot be shared by " + counted(stages, "stage") +
          ", with or without counting embedding and loss as one each",
      "use a number of stages that divides them, or --pipeline-model-parallel-layout with another planner's "
      "partition");
}

}  // namespace

const PlannerEntry& megatron_planner() {
  static const PlannerEntry entry{
      .name = "megatron",
      .summary = "Megatron-LM's own layout: equal numbers of transformer layers, embedding first, head last",
      .objective = "the same number of transformer layers on each stage; there is nothing to choose",
      .cost_model = "counts transformer layers; with its accounting flags, embedding and loss count as one layer each",
      .assumes = "equal transformer layers; an embedding and a head that cost nothing, or one layer each",
      .published = "none: once the sizes are given there is nothing to decide",
      .faults = "",
      .certainty = PlannerCertainty::kDerived,
      .certainty_note =
          "the rule of get_num_layers_to_build, tested on layouts written out by hand; refuses what Megatron-LM "
          "refuses",
      .params = {{"stages", "1..devices", "devices", "how many stages"},
                 {"account", "auto|none|embedding|loss|both", "auto",
                  "what counts as one layer; auto: nothing, or what makes the layers divide"}},
      .advice = "What Megatron-LM runs without --pipeline-model-parallel-layout: the one to beat on transformers.",
      .citation = "Megatron-LM, megatron/core/transformer/transformer_block.py, get_num_layers_to_build",
      .decide = decide_megatron,
      .cuts_only = true};
  return entry;
}

}  // namespace debubble
