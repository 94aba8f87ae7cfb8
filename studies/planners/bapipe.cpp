#include "studies/planners/bapipe.hpp"

#include <algorithm>
#include <limits>

#include "sim/core/at.hpp"
#include "sim/core/words.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/stages.hpp"

namespace debubble {

namespace {

constexpr double kBapipeNever = std::numeric_limits<double>::infinity();

class BapipeModel {
 public:
  BapipeModel(const PlannerJob& job, int stages) : job_(job), sums_(job), stages_(stages) {}

  [[nodiscard]] double time(int stage, int begin, int end) const {
    return stage_time(job_, sums_, begin, end, at(job_.devices, stage));
  }
  [[nodiscard]] double forward(int stage, int begin, int end) const {
    return static_cast<double>(sums_.forward(begin, end)) * at(job_.types, at(job_.devices, stage)).time_factor;
  }
  // One way, into the stage.
  [[nodiscard]] double transfer(int stage, int begin) const {
    if (stage == 0) return 0;
    return static_cast<double>(at(job_.layers, begin - 1).output) /
           static_cast<double>(pair_bandwidth(job_, stage - 1, stage)) * 1e9;
  }
  [[nodiscard]] bool fits(const BapipeSchedule& schedule, int stage, int begin, int end) const {
    const Bytes memory = at(job_.types, at(job_.devices, stage)).memory;
    if (memory == 0) return true;
    const double features = schedule.features * static_cast<double>(stages_ - stage);
    return static_cast<double>(sums_.parameters(begin, end)) +
               std::min(features, static_cast<double>(job_.microbatches)) *
                   static_cast<double>(sums_.activation(begin, end)) <=
           static_cast<double>(memory);
  }

  // Balanced first; a cut whose transfer takes longer than the slowest stage's compute, both ways, is left out, as long
  // as any partition remains.
  [[nodiscard]] LeastLargest balance(const BapipeSchedule& schedule) const {
    const auto within = [&](double limit) {
      return least_largest(0, job_.layer_count(), stages_, [&, limit](int stage, int begin, int end) {
        if (2 * transfer(stage, begin) > limit || !fits(schedule, stage, begin, end)) return kBapipeNever;
        return time(stage, begin, end);
      });
    };
    const LeastLargest balanced = within(kBapipeNever);
    if (balanced.largest == kBapipeNever) return balanced;
    const LeastLargest coarse = within(balanced.largest);
    return coarse.largest == kBapipeNever ? balanced : coarse;
  }

  [[nodiscard]] double step(const BapipeSchedule& schedule, const std::vector<PlannerStage>& stages) const {
    double slowest = 0;
    double forward_time = 0;
    double longest = 0;
    for (int stage = 0; stage < stages_; ++stage) {
      const PlannerStage& one = at(stages, stage);
      if (const double both = time(stage, one.begin, one.end); both > slowest) {
        slowest = both;
        forward_time = forward(stage, one.begin, one.end);
      }
      longest = std::max(longest, transfer(stage, one.begin));
    }
    return bapipe_time(schedule, stages_, job_.microbatches, forward_time, slowest - forward_time, longest);
  }

 private:
  const PlannerJob& job_;
  PlannerSums sums_;
  int stages_;
};

PlannerDecision decide_bapipe(const PlannerJob& job, const PlannerRequest& request) {
  const int stages = planner_count(request, "stages", job.device_count(), 1, job.device_count());
  const bool overlaps = planner_switch(request, "overlap", false);
  require_planner_layers("bapipe", job, stages);
  const BapipeModel model(job, stages);
  PlannerDecision decision;
  decision.predicted = kBapipeNever;
  for (const BapipeSchedule& schedule : bapipe_schedules()) {
    if (schedule.overlaps != overlaps) continue;
    const LeastLargest found = model.balance(schedule);
    if (found.largest == kBapipeNever) continue;
    std::vector<PlannerStage> planned = stages_of_cuts(found.cuts, job.layer_count());
    const double step = model.step(schedule, planned);
    if (step >= decision.predicted) continue;
    decision.predicted = step;
    decision.stages = std::move(planned);
    decision.choices = {{"schedule", schedule.name}};
  }
  if (decision.stages.empty()) {
    no_plan_fits("bapipe", "no partition fits the devices under any of its schedules",
                 "use devices with more memory, or a smaller microbatch");
  }
  decision.unit = "ns per step";
  return decision;
}

}  // namespace

const std::vector<BapipeSchedule>& bapipe_schedules() {
  static const std::vector<BapipeSchedule> schedules{
      {"1F1B-AS", true, 1, 0}, {"FBP-AS", true, 2, 0}, {"1F1B-SNO", false, 1, 2}, {"1F1B-SO", false, 2, 1}};
  return schedules;
}

double bapipe_time(const BapipeSchedule& schedule, int stages, int microbatches, double forward, double backward,
                   double transfer) {
  const int exposed = schedule.exposed == 0 ? 0 : schedule.exposed == 1 ? stages - 1 : stages + microbatches - 2;
  return (microbatches + stages - 1) * (forward + backward) + exposed * 2 * transfer;
}

const PlannerEntry& bapipe_planner() {
  static const PlannerEntry entry{
      .name = "bapipe",
      .summary = "a schedule and a balanced partition that keep within each device's memory",
      .objective = "shortest step over the schedules of the platform",
      .cost_model =
          "(M + N - 1)(F + B) of the slowest stage + its exposed transfers: none where devices overlap, (N + M - 2) or "
          "(N - 1) round trips otherwise; N - i + 1 features held at stage i, or twice that",
      .assumes =
          "one stage per device in the order of their ids; cuts whose transfers outlast the slowest stage are left out "
          "where others remain; it does not split layers",
      .published = "none known to us: up to 3.2 times faster, 4 times less memory (abstract)",
      .faults = "",
      .certainty = PlannerCertainty::kRecalled,
      .certainty_note =
          "only the abstract was available; the table of schedules is from memory; the partition equals brute force, "
          "and "
          "the "
          "engine's coupled exchanges expose half a round trip less than the table says of 1F1B-SNO",
      .params = {{"stages", "1..devices", "devices", "how many stages"},
                 {"overlap", "yes|no", "no", "devices that compute and transfer at the same time (its FPGAs)"}},
      .advice = "Ask it for unequal devices in a fixed order, each with its own memory.",
      .citation =
          "Zhao et al., BaPipe: Exploration of Balanced Pipeline Parallelism for DNN Training, 2020, arXiv "
          "2012.12544",
      .decide = decide_bapipe,
      .cuts_only = true};
  return entry;
}

}  // namespace debubble
