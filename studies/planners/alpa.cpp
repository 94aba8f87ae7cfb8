#include "studies/planners/alpa.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "sim/core/at.hpp"
#include "sim/core/words.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/stages.hpp"

namespace debubble {

namespace {

constexpr double kAlpaNever = std::numeric_limits<double>::infinity();

struct AlpaCell {
  double sum = kAlpaNever;
  double largest = 0;
  int end = 0;      // of the first stage
  int devices = 0;  // of the first stage
};

class AlpaSolver {
 public:
  explicit AlpaSolver(const AlpaProblem& problem)
      : problem_(problem), most_stages_(std::min(problem.layers, problem.devices)) {
    const int count = problem.layers;
    times_.resize(problem.submeshes.size());
    followers_.resize(problem.submeshes.size());
    for (std::size_t mesh = 0; mesh < times_.size(); ++mesh) {
      times_[mesh].assign(to_index(count * (count + 1)), kAlpaNever);
      followers_[mesh].assign(times_[mesh].size(), most_stages_);
      for (int begin = 0; begin < count; ++begin) {
        for (int end = begin + 1; end <= count; ++end) {
          at(times_[mesh], spot(begin, end)) = problem.time(begin, end, problem.submeshes[mesh]);
          if (problem.most_followers) {
            at(followers_[mesh], spot(begin, end)) = problem.most_followers(begin, end, problem.submeshes[mesh]);
          }
        }
      }
    }
  }

  AlpaPlan solve() {
    std::vector<double> limits;
    for (const auto& mesh : times_) {
      for (const double time : mesh) {
        if (time != kAlpaNever) limits.push_back(time);
      }
    }
    std::sort(limits.begin(), limits.end());
    limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
    AlpaPlan best{kAlpaNever, {}};
    // What a limit allows, every larger one does: those that allow nothing are left out.
    const auto first = std::partition_point(limits.begin(), limits.end(), [&](double limit) { return !allows(limit); });
    for (auto limit = first; limit != limits.end(); ++limit) {
      if (*limit * problem_.microbatches >= best.cost) break;
      fill(*limit);
      // Of the numbers of stages the one with the least sum; then its own largest stage counts.
      int stages = 0;
      for (int s = 1; s <= most_stages_; ++s) {
        if (stages == 0 || cell(s, 0, problem_.devices).sum < cell(stages, 0, problem_.devices).sum) stages = s;
      }
      const AlpaCell& found = cell(stages, 0, problem_.devices);
      const double cost = found.sum + (problem_.microbatches - 1) * found.largest;
      if (found.sum != kAlpaNever && cost < best.cost) best = {cost, trace(stages)};
    }
    return best;
  }

 private:
  [[nodiscard]] int spot(int begin, int end) const { return begin * (problem_.layers + 1) + end; }
  AlpaCell& cell(int stages, int begin, int devices) {
    return at(cells_, (stages * (problem_.layers + 1) + begin) * (problem_.devices + 1) + devices);
  }

  [[nodiscard]] bool allows(double limit) {
    fill(limit);
    for (int stages = 1; stages <= most_stages_; ++stages) {
      if (cell(stages, 0, problem_.devices).sum != kAlpaNever) return true;
    }
    return false;
  }

  void fill(double limit) {
    cells_.assign(to_index((most_stages_ + 1) * (problem_.layers + 1) * (problem_.devices + 1)), AlpaCell{});
    cell(0, problem_.layers, 0).sum = 0;
    for (int stages = 1; stages <= most_stages_; ++stages) {
      for (int begin = problem_.layers - 1; begin >= 0; --begin) {
        for (int devices = 1; devices <= problem_.devices; ++devices) improve(stages, begin, devices, limit);
      }
    }
  }

  void improve(int stages, int begin, int devices, double limit) {
    AlpaCell& here = cell(stages, begin, devices);
    for (int end = problem_.layers; end > begin; --end) {
      for (std::size_t mesh = 0; mesh < times_.size(); ++mesh) {
        const int used = problem_.submeshes[mesh];
        if (used > devices) break;
        const double time = at(times_[mesh], spot(begin, end));
        if (time > limit || stages - 1 > at(followers_[mesh], spot(begin, end))) continue;
        const AlpaCell& rest = cell(stages - 1, end, devices - used);
        if (rest.sum + time < here.sum) here = {rest.sum + time, std::max(rest.largest, time), end, used};
      }
    }
  }

  std::vector<PlannerStage> trace(int stages) {
    std::vector<PlannerStage> result;
    int begin = 0;
    int devices = problem_.devices;
    for (; stages > 0; --stages) {
      const AlpaCell& here = cell(stages, begin, devices);
      result.push_back({begin, here.end, here.devices, {}});
      begin = here.end;
      devices -= here.devices;
    }
    return result;
  }

  const AlpaProblem& problem_;
  int most_stages_;
  std::vector<std::vector<double>> times_;  // by submesh, begin and end
  std::vector<std::vector<int>> followers_;
  std::vector<AlpaCell> cells_;
};

// Powers of two within a machine, then whole machines.
std::vector<int> alpa_submeshes(const PlannerJob& job) {
  std::vector<int> sizes;
  const int machine = machine_size(job);
  for (int size = 1; size < machine; size *= 2) sizes.push_back(size);
  for (int size = machine; size <= job.device_count(); size += machine) sizes.push_back(size);
  return sizes;
}

// Largest first, so that none is spread over machines that need not be; ids in that order.
void place_submeshes(std::vector<PlannerStage>& stages) {
  std::vector<std::size_t> order(stages.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t one, std::size_t other) { return stages[one].replicas > stages[other].replicas; });
  int next = 0;
  for (const std::size_t stage : order) {
    for (int i = 0; i < stages[stage].replicas; ++i) stages[stage].devices.push_back(next++);
  }
}

// Neighbours put together until the tables can be filled in seconds, as Alpa clusters operators before it plans.
std::vector<int> alpa_clusters(const PlannerJob& job) {
  constexpr double kMostWork = 1e11;
  const double meshes = static_cast<double>(alpa_submeshes(job).size());
  int count = job.layer_count();
  const auto work = [&] {
    const double half = 0.5 * count * count * meshes;
    return half * half * std::min(count, job.device_count()) * job.device_count();
  };
  while (count > 1 && work() > kMostWork) --count;
  const PlannerSums sums(job);
  const LeastLargest even = least_largest(
      0, job.layer_count(), count, [&](int, int begin, int end) { return static_cast<double>(sums.time(begin, end)); });
  std::vector<int> bounds{0};
  bounds.insert(bounds.end(), even.cuts.begin(), even.cuts.end());
  bounds.push_back(job.layer_count());
  return bounds;
}

PlannerDecision decide_alpa(const PlannerJob& job, const PlannerRequest&) {
  if (!equal_types(job)) {
    not_for_planner("alpa", "it plans for equal devices, and the job has several types",
                    "ask pipeedge, or give one type");
  }
  if (job.levels.empty() || job.levels.size() > 2) {
    not_for_planner("alpa", "it plans for machines of equal devices on one network",
                    "give one or two levels: devices per machine, machines");
  }
  const PlannerSums sums(job);
  const double factor = at(job.types, job.devices.front()).time_factor;
  const Bytes memory = least_memory(job);
  const std::vector<int> bounds = alpa_clusters(job);
  AlpaProblem problem;
  problem.layers = static_cast<int>(bounds.size()) - 1;
  problem.devices = job.device_count();
  problem.microbatches = job.microbatches;
  problem.submeshes = alpa_submeshes(job);
  problem.time = [&](int first, int last, int devices) {
    const int begin = at(bounds, first);
    const int end = at(bounds, last);
    const auto bandwidth =
        static_cast<double>(devices <= machine_size(job) ? job.levels.front().bandwidth : job.levels.back().bandwidth);
    const double moved = 2.0 * (devices - 1) / devices * static_cast<double>(sums.parameters(begin, end));
    return static_cast<double>(sums.time(begin, end)) * factor / devices + moved / bandwidth * 1e9 / job.microbatches;
  };
  problem.most_followers = [&](int first, int last, int devices) {
    const int begin = at(bounds, first);
    const int end = at(bounds, last);
    if (memory == 0) return job.layer_count();
    const double room =
        static_cast<double>(memory) - static_cast<double>(sums.parameters(begin, end) + sums.state(begin, end));
    const double kept = static_cast<double>(sums.activation(begin, end)) / devices;
    if (room < kept) return -1;
    return kept <= 0 ? job.layer_count()
                     : static_cast<int>(std::min(std::floor(room / kept) - 1, static_cast<double>(job.layer_count())));
  };
  const AlpaPlan plan = alpa_plan(problem);
  if (plan.cost == kAlpaNever) {
    no_plan_fits("alpa", "no stages and submeshes fit the memory of " + mebibytes(memory) + " per device",
                 "use devices with more memory, or a smaller microbatch");
  }
  PlannerDecision decision;
  decision.stages = plan.stages;
  for (PlannerStage& stage : decision.stages) {
    stage.begin = at(bounds, stage.begin);
    stage.end = at(bounds, stage.end);
  }
  if (problem.layers < job.layer_count()) {
    decision.notes.push_back("it planned over " + std::to_string(problem.layers) + " groups of " +
                             counted(job.layer_count(), "layer"));
  }
  place_submeshes(decision.stages);
  decision.predicted = plan.cost;
  decision.unit = "ns per step";
  decision.notes.emplace_back(
      "within a stage data parallelism stands for Alpa's intra-operator plan: its compiler is not part of this");
  return decision;
}

}  // namespace

AlpaPlan alpa_plan(const AlpaProblem& problem) { return AlpaSolver(problem).solve(); }

const PlannerEntry& alpa_planner() {
  static const PlannerEntry entry{
      .name = "alpa",
      .summary = "stages on submeshes of the cluster for the shortest step (the inter-operator pass)",
      .objective = "smallest sum of stage times + (microbatches - 1) x the longest",
      .cost_model =
          "stage: (forward and backward) / devices + a ring exchange of its weights / microbatches, in place of the "
          "times that Alpa's intra-operator pass measures; a stage with q behind it keeps q + 1 activations",
      .assumes =
          "equal devices, submeshes of 1, 2, 4, ... devices or whole machines, all devices used; transfers between "
          "stages cost nothing",
      .published = "none known to us as numbers: its paper draws the stages of Wide-ResNet",
      .faults = "",
      .certainty = PlannerCertainty::kVerified,
      .certainty_note =
          "its dynamic program gives the costs that the original training_dp gave on 13 cases and equals brute force; "
          "stage times come from our model, where Alpa measures them",
      .params = {},
      .advice =
          "Ask it for transformers on machines with fast links inside. Its formula is an upper bound for 1F1B without "
          "transfers; it does not see slow links between machines.",
      .citation = "Zheng et al., Alpa, OSDI 2022, arXiv 2201.12023; program: github.com/alpa-projects/alpa at b8078a9",
      .decide = decide_alpa};
  return entry;
}

}  // namespace debubble
