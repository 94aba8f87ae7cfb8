#include "studies/planners/deepspeed.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "sim/core/at.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/stages.hpp"

namespace debubble {

namespace {

struct DeepspeedPrefix {
  bool known = false;
  std::int64_t most = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t cost = 0;
  int from = 0;
};

// partition_balanced: parts of prefixes, the last of several equal ones wins. A part may be empty there.
std::vector<int> least_difference(const PlannerSums& sums, int parts) {
  const int count = sums.count();
  std::vector<std::vector<DeepspeedPrefix>> best(to_index(count + 1),
                                                 std::vector<DeepspeedPrefix>(to_index(parts + 1)));
  best[0][0] = {true, 0, std::numeric_limits<std::int64_t>::max(), 0, 0};
  for (int end = 1; end <= count; ++end) {
    for (int part = 1; part <= std::min(end, parts); ++part) {
      DeepspeedPrefix& here = at(at(best, end), part);
      for (int from = 0; from < end; ++from) {
        const DeepspeedPrefix& before = at(at(best, from), part - 1);
        if (!before.known) continue;
        const std::int64_t size = sums.parameters(from, end);
        const std::int64_t most = std::max(before.most, size);
        const std::int64_t least = std::min(before.least, size);
        if (here.known && here.cost < most - least) continue;
        here = {true, most, least, most - least, from};
      }
    }
  }
  std::vector<int> cuts;
  int end = count;
  for (int part = parts; part > 1; --part) {
    end = at(at(best, end), part).from;
    cuts.insert(cuts.begin(), end);
  }
  return cuts;
}

PlannerDecision decide_deepspeed(const PlannerJob& job, const PlannerRequest& request) {
  const int stages = planner_count(request, "stages", job.device_count(), 1, job.device_count());
  require_planner_layers("deepspeed", job, stages);
  const PlannerSums sums(job);
  const auto heaviest = [&](int, int begin, int end) { return static_cast<double>(sums.parameters(begin, end)); };
  PlannerDecision decision;
  decision.stages = stages_of_cuts(request.as_published ? least_difference(sums, stages)
                                                        : least_largest(0, job.layer_count(), stages, heaviest).cuts,
                                   job.layer_count());
  for (const PlannerStage& stage : decision.stages) {
    decision.predicted = std::max(decision.predicted, heaviest(0, stage.begin, stage.end));
  }
  decision.unit = "bytes of weights on the heaviest stage";
  return decision;
}

}  // namespace

const PlannerEntry& deepspeed_planner() {
  static const PlannerEntry entry{
      .name = "deepspeed",
      .summary = "DeepSpeed's partition_balanced: balances the number of weights per stage",
      .objective =
          "fewest weights on the heaviest stage (as published: smallest difference between heaviest and lightest)",
      .cost_model = "adds up the layers' weights (partition_method parameters); knows no times",
      .assumes =
          "time is proportional to the number of weights, which is wrong for an embedding: many weights, little time",
      .published = "none known to us",
      .faults =
          "its dynamic program keeps one partition per prefix, ranked by the difference between its stages. That has "
          "no optimal substructure, so it can miss the smallest difference, and its heaviest stage can be heavier than "
          "necessary",
      .certainty = PlannerCertainty::kRecalled,
      .certainty_note =
          "partition_balanced written from memory, without the program to compare with; the corrected decision equals "
          "brute force on random cases",
      .params = {{"stages", "1..devices", "devices", "how many stages"}},
      .advice = "What DeepSpeed runs by default. Where the embedding or the head is large, balance times instead.",
      .citation = "DeepSpeed, deepspeed/runtime/utils.py, partition_balanced; PipelineModule, partition_method",
      .decide = decide_deepspeed,
      .cuts_only = true};
  return entry;
}

}  // namespace debubble
