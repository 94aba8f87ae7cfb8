// debubble's own planner of stages: what the simulator itself says is shortest. It has no cost model beside the
// simulation that all decisions are judged by, so that it predicts what comes out.
//
//  - one device per stage: the order of the devices, which of them stay idle, and the cuts
//    (studies/planners/placement.hpp), exactly where that is few steps;
//  - stages of r devices each, in the order given, for every r, cut for the least slowest stage; and whatever the other
//    planners decide, published faults and all: each improved by moving cuts, and devices between neighbours. So it is
//    never worse than one of them that fits, as long as that chooses nothing beside stages.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "studies/planners/catalog.hpp"
#include "studies/planners/contract.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/placement.hpp"
#include "studies/planners/stages.hpp"

namespace debubble {

namespace {

struct OwnPlan {
  std::vector<PlannerStage> stages;
  DecisionWorth worth;
};

// Stages of so many devices each, consecutive ones.
std::vector<PlannerStage> grouped(const std::vector<int>& cuts, int layers, int replicas) {
  std::vector<PlannerStage> stages = stages_of_cuts(cuts, layers);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    stages[s].replicas = replicas;
    stages[s].devices.resize(to_index(replicas));
    std::iota(stages[s].devices.begin(), stages[s].devices.end(), static_cast<int>(s) * replicas);
  }
  return stages;
}

// Replicas as a decision has them, improved one cut and one device at a time.
class ReplicatedSearch {
 public:
  explicit ReplicatedSearch(const PlannerJob& job) : job_(job), sums_(job), worths_(job) {}

  [[nodiscard]] std::vector<PlannerStage> balanced(int replicas, int count) const {
    const LeastLargest cuts = least_largest(0, job_.layer_count(), count, [&](int stage, int begin, int end) {
      double slowest = 0;
      for (int device = stage * replicas; device < (stage + 1) * replicas; ++device) {
        slowest = std::max(slowest, stage_time(job_, sums_, begin, end, at(job_.devices, device)));
      }
      return slowest;
    });
    return grouped(cuts.cuts, job_.layer_count(), replicas);
  }

  // Improved, if it then fits.
  std::optional<OwnPlan> from(std::vector<PlannerStage> stages) {
    OwnPlan best{std::move(stages), {}};
    best.worth = worth_of(best.stages);
    while (ops_ < kMostReplicatedOps && improve(best)) {
    }
    if (!best.worth.fits) return std::nullopt;
    return best;
  }

 private:
  static constexpr std::int64_t kMostReplicatedOps = 4'000'000;  // simulated, in total

  [[nodiscard]] DecisionWorth worth_of(const std::vector<PlannerStage>& stages) {
    ops_ += 2 * static_cast<std::int64_t>(stages.size()) * job_.microbatches;
    PlannerDecision decision;
    decision.stages = stages;
    return worths_.of(decision);
  }

  bool improve(OwnPlan& best) {
    for (std::size_t s = 0; s + 1 < best.stages.size(); ++s) {
      for (const int by : {1, -1}) {
        OwnPlan other = best;
        other.stages[s].end += by;
        other.stages[s + 1].begin += by;
        if (is_better(other, best)) return true;
        other = best;
        move_replica(other.stages[s], other.stages[s + 1], by > 0);
        if (is_better(other, best)) return true;
      }
    }
    return false;
  }

  // The device at the boundary changes sides.
  static void move_replica(PlannerStage& before, PlannerStage& behind, bool forward) {
    PlannerStage& from = forward ? before : behind;
    PlannerStage& to = forward ? behind : before;
    if (from.devices.size() < 2) return;
    const auto moved = forward ? from.devices.end() - 1 : from.devices.begin();
    to.devices.insert(forward ? to.devices.begin() : to.devices.end(), *moved);
    from.devices.erase(moved);
    --from.replicas;
    ++to.replicas;
  }

  bool is_better(OwnPlan& other, OwnPlan& best) {
    if (other.stages == best.stages) return false;
    for (const PlannerStage& stage : other.stages) {
      if (stage.begin >= stage.end) return false;
    }
    other.worth = worth_of(other.stages);
    const auto order = [](const DecisionWorth& one) {
      return std::pair(!one.fits, one.fits ? one.step : one.peak_memory);
    };
    if (order(other.worth) >= order(best.worth)) return false;
    best = std::move(other);
    return true;
  }

  const PlannerJob& job_;
  PlannerSums sums_;
  DecisionWorths worths_;
  std::int64_t ops_ = 0;
};

// What the others decide, faults and all: a good place to begin.
std::vector<std::vector<PlannerStage>> decisions_of_others(const PlannerJob& job) {
  std::vector<std::vector<PlannerStage>> all;
  for (const PlannerEntry& entry : planner_catalog()) {
    for (const bool as_published : {false, true}) {
      const bool stages_of_its_own = entry.name != "debubble" && entry.name != "autoddl";  // which cuts none
      if (!stages_of_its_own || (as_published && entry.faults.empty())) continue;
      try {
        PlannerDecision decision = decide({&entry, {as_published, {}}}, job);
        if (!decision.stages.empty()) all.push_back(std::move(decision.stages));
      } catch (const InputError&) {
        continue;  // not for this job
      }
    }
  }
  return all;
}

PlannerDecision decide_debubble(const PlannerJob& job, const PlannerRequest& request) {
  const bool counted = request.params.contains("stages");
  const int stages = counted ? planner_count(request, "stages", job.device_count(), 1, job.device_count()) : 0;
  const bool replicas = planner_switch(request, "replicas", true);
  PlacementOptions options;
  options.given_order = planner_switch(request, "given-order", false);
  if (stages > 0) require_planner_layers("debubble", job, stages);
  std::optional<OwnPlan> best;
  bool exact = false;
  std::optional<InputError> refusal;
  try {
    DevicePlacement placed = place_stages(job, stages, options);
    exact = placed.exact;
    best = OwnPlan{std::move(placed.stages), placed.worth};
  } catch (const InputError& error) {
    refusal = error;
  }
  const auto keep = [&](std::optional<OwnPlan> found) {
    if (found && (!best || found->worth.step < best->worth.step)) best = std::move(found);
  };
  for (int each = 2; replicas && each <= job.device_count(); ++each) {
    const int count = job.device_count() / each;
    if (job.device_count() % each != 0 || count > job.layer_count() || (stages > 0 && count != stages)) continue;
    ReplicatedSearch search(job);
    keep(search.from(search.balanced(each, count)));
  }
  if (replicas && !options.given_order) {
    for (std::vector<PlannerStage>& theirs : decisions_of_others(job)) {
      if (stages > 0 && static_cast<int>(theirs.size()) != stages) continue;
      keep(ReplicatedSearch(job).from(std::move(theirs)));
    }
  }
  if (!best) throw InputError(*refusal);
  PlannerDecision decision;
  decision.stages = best->stages;
  decision.predicted = static_cast<double>(best->worth.step);
  decision.unit = "ns per step";
  decision.choices = {{"proof", exact ? "no order and no cut with one device per stage is shorter"
                                      : "none: too many orders and cuts to try them all"}};
  return decision;
}

}  // namespace

const PlannerEntry& debubble_planner() {
  static const PlannerEntry entry{
      .name = "debubble",
      .summary = "order of devices, cuts and replicas for the shortest simulated step",
      .objective = "shortest step of 1F1B with a flush, as simulated",
      .cost_model = "the same simulation that judges every decision: it includes transfers, weight exchange and memory",
      .assumes =
          "every replica takes its share of each microbatch; with replicas it starts from equal groups of devices and "
          "from the other planners' decisions, improves them, and proves no optimum",
      .published =
          "none: it is ours. `debubble plan` searches a larger space: tensor ranks, ZeRO, schedules, recomputation",
      .faults = "",
      .certainty = PlannerCertainty::kVerified,
      .certainty_note =
          "with one device per stage it equals brute force over all orders and cuts on small random jobs; on large "
          "ones it "
          "is never worse than the devices in the order given, and nowhere worse than another planner's stages",
      .params = {{"stages", "1..devices", "any", "how many stages"},
                 {"given-order", "yes|no", "no", "keeps the devices in the order of their ids"},
                 {"replicas", "yes|no", "yes", "tries stages of several devices, too"}},
      .advice = "Ask it for unequal devices or links, and to see what the others miss.",
      .citation = "debubble, docs/planners.md",
      .decide = decide_debubble};
  return entry;
}

}  // namespace debubble
