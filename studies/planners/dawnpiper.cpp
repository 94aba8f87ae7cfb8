#include "studies/planners/dawnpiper.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/words.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/stages.hpp"

namespace debubble {

namespace {

constexpr double kDawnNever = std::numeric_limits<double>::infinity();

class DawnpiperModel {
 public:
  DawnpiperModel(const PlannerJob& job, int stages, bool asynchronous)
      : job_(job),
        sums_(job),
        stages_(stages),
        asynchronous_(asynchronous),
        memory_(least_memory(job)),
        factor_(slowest_factor(job)) {}

  [[nodiscard]] double time(int begin, int end) const { return static_cast<double>(sums_.time(begin, end)) * factor_; }
  [[nodiscard]] double memory(int stage, int begin, int end) const {
    const double copies = stages_ - stage;  // stages from 0
    const auto weights = static_cast<double>(sums_.parameters(begin, end));
    return (asynchronous_ ? copies : 1.0) * weights + copies * static_cast<double>(sums_.activation(begin, end));
  }

  // Time of a stage with the cheapest recomputation that makes it fit; infinity: it does not.
  [[nodiscard]] double cost(int stage, int begin, int end) {
    const double lacking = memory_ == 0 ? 0 : memory(stage, begin, end) - static_cast<double>(memory_);
    if (lacking <= 0) return time(begin, end);
    const auto known = known_.find({stage, begin, end});
    if (known != known_.end()) return known->second;
    return known_[{stage, begin, end}] = time(begin, end) + cheapest(begin, end, lacking, stages_ - stage - 1);
  }

 private:
  struct Choice {
    double freed = 0;
    double cost = 0;
  };

  // Of all sets of layers that free enough the cheapest: sets that free no more and cost no less than another are left
  // out, layer by layer.
  [[nodiscard]] double cheapest(int begin, int end, double lacking, int copies) const {
    std::vector<Choice> front{{0, 0}};
    for (int layer = begin; layer < end; ++layer) {
      const double freed = static_cast<double>(at(job_.layers, layer).activation) * copies;
      if (freed <= 0) continue;
      const double cost = time(layer, layer + 1) / 3;
      std::vector<Choice> all = front;
      for (const Choice& choice : front) all.push_back({std::min(choice.freed + freed, lacking), choice.cost + cost});
      std::sort(all.begin(), all.end(), [](const Choice& one, const Choice& other) {
        return one.cost != other.cost ? one.cost < other.cost : one.freed > other.freed;
      });
      front.clear();
      for (const Choice& choice : all) {
        if (front.empty() || choice.freed > front.back().freed) front.push_back(choice);
      }
      if (front.size() > kMostChoices) {
        not_for_planner("dawnpiper", "so many different layers have too many ways to be recomputed",
                        "use a coarser profile, or more memory");
      }
    }
    return front.back().freed >= lacking ? front.back().cost : kDawnNever;
  }

  static constexpr std::size_t kMostChoices = 20000;
  const PlannerJob& job_;
  PlannerSums sums_;
  int stages_;
  bool asynchronous_;
  Bytes memory_;
  double factor_;
  std::map<std::tuple<int, int, int>, double> known_;  // by stage, begin, end
};

class DawnpiperInterval {
 public:
  explicit DawnpiperInterval(DawnpiperModel& model) : model_(model) {}

  // Layers [begin, end) on stages [first, last).
  DawnpiperPlan part(int begin, int end, int first, int last) {
    if (last - first == 1) return {model_.cost(first, begin, end), {}};
    const auto known = known_.find({begin, end, first, last});
    if (known != known_.end()) return known->second;
    const int middle = first + (last - first + 1) / 2;
    const int by_time =
        balanced(begin, end, first, last, middle, [&](int, int from, int to) { return model_.time(from, to); });
    const int by_memory = balanced(begin, end, first, last, middle,
                                   [&](int stage, int from, int to) { return model_.memory(first + stage, from, to); });
    DawnpiperPlan best{kDawnNever, {}};
    for (int cut = std::min(by_time, by_memory); cut <= std::max(by_time, by_memory); ++cut) {
      DawnpiperPlan front = part(begin, cut, first, middle);
      if (front.slowest >= best.slowest) continue;
      const DawnpiperPlan back = part(cut, end, middle, last);
      if (std::max(front.slowest, back.slowest) >= best.slowest) continue;
      best = std::move(front);
      best.slowest = std::max(best.slowest, back.slowest);
      best.cuts.push_back(cut);
      best.cuts.insert(best.cuts.end(), back.cuts.begin(), back.cuts.end());
    }
    known_[{begin, end, first, last}] = best;
    return best;
  }

 private:
  static int balanced(int begin, int end, int first, int last, int middle, const RangeWeight& weight) {
    return at(least_largest(begin, end, last - first, weight).cuts, middle - first - 1);
  }

  DawnpiperModel& model_;
  std::map<std::tuple<int, int, int, int>, DawnpiperPlan> known_;  // by begin, end, first, last
};

PlannerDecision decide_dawnpiper(const PlannerJob& job, const PlannerRequest& request) {
  const int stages = planner_count(request, "stages", job.device_count(), 1, job.device_count());
  const bool asynchronous = planner_switch(request, "asynchronous", true);
  require_planner_layers("dawnpiper", job, stages);
  if (job.layer_count() > 400) {
    not_for_planner("dawnpiper", "more than 400 layers are too many for it", "use a coarser profile");
  }
  const DawnpiperPlan plan = request.as_published ? dawnpiper_interval(job, stages, asynchronous)
                                                  : dawnpiper_exhaustive(job, stages, asynchronous);
  if (plan.slowest == kDawnNever) {
    no_plan_fits("dawnpiper",
                 "no cuts fit " + mebibytes(least_memory(job)) + " per device, with layers recomputed where that helps",
                 "use devices with more memory, more stages or a smaller microbatch");
  }
  PlannerDecision decision;
  decision.stages = stages_of_cuts(plan.cuts, job.layer_count());
  decision.predicted = plan.slowest;
  decision.unit = "ns per microbatch, slowest stage";
  DawnpiperModel model(job, stages, asynchronous);
  for (const PlannerStage& stage : decision.stages) {
    const int index = stage.devices.front();
    const double more = model.cost(index, stage.begin, stage.end) - model.time(stage.begin, stage.end);
    if (more > 0) {
      decision.notes.push_back("stage " + std::to_string(index) + " recomputes layers for " +
                               std::to_string(static_cast<std::int64_t>(more)) + " ns per microbatch");
    }
  }
  note_slowest_device(job, decision);
  return decision;
}

}  // namespace

DawnpiperPlan dawnpiper_interval(const PlannerJob& job, int stages, bool asynchronous) {
  DawnpiperModel model(job, stages, asynchronous);
  return DawnpiperInterval(model).part(0, job.layer_count(), 0, stages);
}

DawnpiperPlan dawnpiper_exhaustive(const PlannerJob& job, int stages, bool asynchronous) {
  DawnpiperModel model(job, stages, asynchronous);
  const LeastLargest found = least_largest(
      0, job.layer_count(), stages, [&](int stage, int begin, int end) { return model.cost(stage, begin, end); });
  return {found.largest, found.cuts};
}

const PlannerEntry& dawnpiper_planner() {
  static const PlannerEntry entry{
      .name = "dawnpiper",
      .summary =
          "cuts between the compute-balanced and the memory-balanced one, with recomputation where memory is short",
      .objective = "least time per microbatch of the slowest stage, recomputation included, within the memory",
      .cost_model =
          "stage: forward and backward + a third of the recomputed layers; stage x of n keeps n - x + 1 activations, "
          "and "
          "as many weights when asynchronous",
      .assumes = "equal devices; transfers hidden behind compute; no layer has a negative size",
      .published = "none known to us: batches up to 4 times vPipe's and 11 times PipeDream's (abstract)",
      .faults =
          "where memory is the limit, the best cut, and even the only one that fits, can lie outside its interval; "
          "corrected, it tries all cuts",
      .certainty = PlannerCertainty::kRecalled,
      .certainty_note =
          "only the abstract was available; all cuts equal brute force; the interval contains the optimum where memory "
          "is not the limit; where it is, it missed the optimum in 3 of 184 random asynchronous cases",
      .params = {{"stages", "1..devices", "devices", "how many stages"},
                 {"asynchronous", "yes|no", "yes",
                  "1F1B without a flush, with a copy of the weights per microbatch in "
                  "flight"}},
      .advice = "Ask it where the front stages run out of memory and the back ones have room.",
      .citation = "Peng et al., DawnPiper, 2025, arXiv 2505.05856",
      .decide = decide_dawnpiper,
      .cuts_only = true};
  return entry;
}

}  // namespace debubble
