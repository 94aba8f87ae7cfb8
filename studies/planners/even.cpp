// As many layers on each stage, the rest to the first ones: what people do without a planner.
//
//     10 layers on 4 devices: [0,3) [3,6) [6,8) [8,10)
#include "studies/planners/contract.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/stages.hpp"

namespace debubble {

namespace {

PlannerDecision decide_even(const PlannerJob& job, const PlannerRequest& request) {
  const int stages = planner_count(request, "stages", job.device_count(), 1, job.device_count());
  require_planner_layers("even", job, stages);
  PlannerDecision decision;
  const std::vector<int> sizes = even_sizes(job.layer_count(), stages);
  decision.stages = stages_of_sizes(sizes);
  decision.predicted = sizes.front();
  decision.unit = "layers on the fullest stage";
  return decision;
}

}  // namespace

const PlannerEntry& even_planner() {
  static const PlannerEntry entry{
      .name = "even",
      .summary = "the same number of layers on each stage; what is left over goes to the first stages",
      .objective = "fewest layers on the fullest stage",
      .cost_model = "counts layers; knows no times, sizes or links",
      .assumes = "all layers cost the same, embedding and head included; equal devices",
      .published = "none: it is the usual manual split",
      .faults = "",
      .certainty = PlannerCertainty::kVerified,
      .certainty_note = "it is its own definition",
      .params = {{"stages", "1..devices", "devices", "how many stages"}},
      .advice = "The baseline that every other planner has to beat.",
      .citation = "PyTorch, DeepSpeed (partition_method uniform) and others",
      .decide = decide_even,
      .cuts_only = true};
  return entry;
}

}  // namespace debubble
