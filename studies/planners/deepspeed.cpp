// DeepSpeed's PipelineModule: partition_balanced over the layers' parameters
// (cost_models/partition/framework_cuts.hpp).
#include <algorithm>
#include <vector>

#include "cost_models/partition/framework_cuts.hpp"
#include "studies/planners/contract.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/stages.hpp"

namespace debubble {

namespace {

PlannerDecision decide_deepspeed(const PlannerJob& job, const PlannerRequest& request) {
  const int stages = planner_count(request, "stages", job.device_count(), 1, job.device_count());
  require_planner_layers("deepspeed", job, stages);
  std::vector<double> weights;
  for (const PlannerLayer& layer : job.layers) weights.push_back(static_cast<double>(layer.parameters));
  PlannerDecision decision;
  decision.stages = stages_of_sizes(deepspeed_balance(weights, stages));
  const PlannerSums sums(job);
  for (const PlannerStage& stage : decision.stages) {
    decision.predicted = std::max(decision.predicted, static_cast<double>(sums.parameters(stage.begin, stage.end)));
  }
  decision.unit = "bytes of weights on the heaviest stage";
  return decision;
}

}  // namespace

const PlannerEntry& deepspeed_planner() {
  static const PlannerEntry entry{
      .name = "deepspeed",
      .summary = "DeepSpeed's partition_balanced: balances the number of weights per stage",
      .objective = "smallest difference between the heaviest and the lightest stage, in weights",
      .cost_model = "adds up the layers' weights (partition_method parameters); knows no times",
      .assumes =
          "time is proportional to the number of weights, which is wrong for an embedding: many weights, little time",
      .published = "none known to us",
      .faults = "",
      .certainty = PlannerCertainty::kVerified,
      .certainty_note =
          "the cuts of DeepSpeed 0.19.8 come out of it. Its dynamic program continues one partition per prefix only, "
          "so "
          "the difference may be larger than necessary: that is the program's, and kept",
      .params = {{"stages", "1..devices", "devices", "how many stages"}},
      .advice =
          "What DeepSpeed runs by default; `--partition deepspeed` cuts a run so. Where the embedding or the head is "
          "large, balance times instead.",
      .citation = "DeepSpeed, deepspeed/runtime/utils.py, partition_balanced; PipelineModule, partition_method",
      .decide = decide_deepspeed,
      .cuts_only = true};
  return entry;
}

}  // namespace debubble
