#include "schedules/transforms/vocabulary_parallel.hpp"

#include "schedules/common/list_timing.hpp"
#include "schedules/transforms/request.hpp"
#include "schedules/transforms/vocabulary_plan.hpp"

namespace debubble {

namespace {

// The transform may be asked before anybody knows the cost of a shard; then it plans for the output layer of the size
// that --times takes by default.
PlanningCosts vocabulary_costs(const Schedule& schedule, const TransformRequest& request) {
  if (request.costs == nullptr) return unit_costs(schedule);
  PlanningCosts costs = *request.costs;
  if (!costs.costs.vocabulary) costs.costs.vocabulary = unit_costs(schedule).costs.vocabulary;
  return costs;
}

Schedule vocabulary_parallel(const Schedule& before, const TransformRequest& request) {
  const TransformParams params(request, "vocabulary-parallel");
  const std::string barriers = params.choice("barriers", "1|2");
  if (before.vocabulary_barriers > 0) {
    params.refuse("M008", "", "the output layer of " + before.name + " is cut along the vocabulary already",
                  "leave the second --transform vocabulary-parallel out");
  }
  if (before.placement.replicas() != 1) {
    params.refuse("M007", "",
                  before.name + " runs " + std::to_string(before.placement.replicas()) +
                      " replicas of the model in one pipeline, each with an output layer of its own",
                  "use it with a schedule of one replica");
  }
  if (before.asynchrony) {
    params.refuse("M007", "",
                  before.name +
                      " updates the weights as soon as a backward ends, so shards of one layer "
                      "would hold different versions",
                  "use it with a schedule that flushes");
  }
  if (!before.copies.empty()) {
    params.refuse("M007", "",
                  "the copies of " + before.name + " are made for the order of its rows, which would change",
                  "apply vocabulary-parallel first, then offload");
  }
  Schedule schedule = before;
  schedule.vocabulary_barriers = barriers == "1" ? 1 : 2;
  schedule.rows = plan_vocabulary(schedule, vocabulary_costs(before, request));
  sign(schedule, "vocabulary-parallel", {{"barriers", barriers}});
  return schedule;
}

}  // namespace

const TransformEntry& vocabulary_parallel_entry() {
  static const TransformEntry entry{
      .name = "vocabulary-parallel",
      .summary = "the output layer in shards on all devices: two passes S and T per microbatch and device",
      .citation = "Yeung, Qi, Lin, Wan, Balancing Pipeline Parallelism with Vocabulary Parallelism, arXiv 2411.05288",
      .certainty = Certainty::kDerived,
      .certainty_note =
          "the insertion is ours: a run by list order; tested for the paper's peaks (p + 1, p + 2), for "
          "1F1B's bubble, and against every insertion for p = 2 and m <= 2; which of the paper's algorithms "
          "needs which peak is inferred",
      .constraints = "refuses schedules of several replicas, without a flush, with copies, and with S and T already",
      .params = {{"barriers", "1|2", "1", "1: the last stage's backward waits for all S; 2: for all T"}},
      .advice =
          "For large vocabularies, whose output layer makes the last stage the slowest. With 1F1B each device "
          "holds one microbatch more per barrier.",
      .apply = vocabulary_parallel,
      .uses_costs = true};
  return entry;
}

}  // namespace debubble
