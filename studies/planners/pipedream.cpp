#include "studies/planners/pipedream.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/words.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/stages.hpp"

namespace debubble {

namespace {

constexpr double kNoTime = std::numeric_limits<double>::infinity();

struct PipedreamCell {
  double time = kNoTime;
  int cut = -1;      // last state of the part before the last stage; -1: one stage
  int machines = 0;  // of the last stage
  int rest = 0;      // of the part before it
};

// A triangle of cells by first state, last state and number of machines.
class PipedreamTable {
 public:
  PipedreamTable(int states, int machines) : states_(states), machines_(machines) {
    cells_.resize(to_index(states) * to_index(states) * to_index(machines));
  }
  [[nodiscard]] PipedreamCell& cell(int from, int to, int machines) {
    return cells_[(to_index(from) * to_index(states_) + to_index(to)) * to_index(machines_) + to_index(machines - 1)];
  }
  [[nodiscard]] const PipedreamCell& cell(int from, int to, int machines) const {
    return cells_[(to_index(from) * to_index(states_) + to_index(to)) * to_index(machines_) + to_index(machines - 1)];
  }

 private:
  int states_, machines_;
  std::vector<PipedreamCell> cells_;
};

class PipedreamSolver {
 public:
  PipedreamSolver(const PlannerJob& job, const PipedreamOptions& options)
      : job_(job),
        options_(options),
        sums_(job),
        memory_(least_memory(job)),
        count_(job.layer_count()),
        factor_(slowest_factor(job)) {
    times_.assign(to_index(count_), std::vector<double>(to_index(count_), kNoTime));
    for (int from = 0; from < count_; ++from) {
      for (int to = from; to < count_; ++to) {
        at(at(times_, from), to) = static_cast<double>(sums_.time(from, to + 1)) * factor_;
      }
    }
  }

  PipedreamPlan solve() {
    int inner = 1;
    for (std::size_t level = 0; level < job_.levels.size(); ++level) {
      tables_.push_back(solve_level(job_.levels[level], inner, level + 1 == job_.levels.size()));
      inner = job_.levels[level].members;
    }
    PipedreamPlan plan;
    const int machines = job_.levels.back().members;
    plan.slowest_ns = tables_.back().cell(0, count_ - 1, machines).time;
    if (plan.slowest_ns == kNoTime) {
      no_plan_fits("pipedream", "no partition fits the memory of " + mebibytes(memory_) + " per device",
                   "use devices with more memory, or a smaller microbatch");
    }
    plan.outer = stages_at(job_.levels.size() - 1, 0, count_ - 1, machines);
    flatten(job_.levels.size() - 1, plan.outer, 1, plan.flat);
    number_devices(plan.flat);
    plan.data_parallel_speedup = data_parallel();
    return plan;
  }

 private:
  // Time of the weights' exchange between m components, whole.
  [[nodiscard]] double exchange(int from, int to, int machines, double bandwidth) const {
    const double coefficient = options_.as_published ? 4.0 : 2.0;
    return coefficient * (machines - 1) * static_cast<double>(sums_.parameters(from, to + 1)) / (bandwidth * machines) *
           1e9;
  }

  // What a stage keeps for the microbatches in flight: weights and activations of each.
  [[nodiscard]] bool fits(int from, int to, int behind, int machines) const {
    if (memory_ == 0) return true;
    // The original leaves out the microbatch that is being computed, so that a last stage needs nothing.
    const int copies = (behind + machines - 1) / machines + (options_.as_published ? 0 : 1);
    return static_cast<double>(copies) *
               static_cast<double>(sums_.activation(from, to + 1) + sums_.parameters(from, to + 1)) <=
           static_cast<double>(memory_);
  }

  PipedreamTable solve_level(const PlannerLevel& level, int inner, bool last_level) {
    PipedreamTable table(count_, level.members);
    const auto bandwidth = static_cast<double>(level.bandwidth);
    const int most = options_.straight ? 1 : level.members;
    for (int from = 0; from < (last_level ? 1 : count_); ++from) {
      for (int to = from; to < count_; ++to) {
        for (int m = 1; m <= most; ++m) {
          if (!fits(from, to, level.members - m, m)) continue;
          table.cell(from, to, m) = {(time(from, to) + exchange(from, to, m, bandwidth) / inner) / m, -1, m, 0};
        }
      }
      for (int m = 2; m <= level.members; ++m) {
        for (int to = from + 1; to < count_; ++to) improve(table, level, inner, from, to, m);
      }
    }
    for (int from = 0; from < count_ && !last_level; ++from) {
      for (int to = from; to < count_; ++to) at(at(times_, from), to) = table.cell(from, to, level.members).time;
    }
    return table;
  }

  void improve(PipedreamTable& table, const PlannerLevel& level, int inner, int from, int to, int machines) {
    PipedreamCell best = table.cell(from, to, machines);
    if (options_.fewer_machines && table.cell(from, to, machines - 1).time < best.time) {
      best = table.cell(from, to, machines - 1);
    }
    const auto bandwidth = static_cast<double>(level.bandwidth);
    for (int cut = from; cut < to; ++cut) {
      for (int m = 1; m < (options_.straight ? 2 : machines); ++m) {
        const double before = table.cell(from, cut, machines - m).time;
        if (before == kNoTime || time(cut + 1, to) == kNoTime) continue;
        if (!fits(cut + 1, to, level.members - machines, m)) continue;
        const double share = options_.as_published ? 1 : inner;
        double slowest = (time(cut + 1, to) + exchange(cut + 1, to, m, bandwidth) / share) / m;
        slowest = std::max(slowest, before);
        if (options_.communication) {
          slowest = std::max(slowest, boundary(cut, m, bandwidth));
          if (to + 1 < count_) slowest = std::max(slowest, boundary(to, m, bandwidth));
        }
        if (slowest < best.time) best = {slowest, cut, m, machines - m};
      }
    }
    table.cell(from, to, machines) = best;
  }

  [[nodiscard]] double time(int from, int to) const { return at(at(times_, from), to); }
  [[nodiscard]] double boundary(int state, int machines, double bandwidth) const {
    return 2.0 * static_cast<double>(at(job_.layers, state).output) / (bandwidth * machines) * 1e9;
  }

  [[nodiscard]] std::vector<PlannerStage> stages_at(std::size_t level, int from, int to, int machines) const {
    std::vector<PlannerStage> stages;
    int end = to;
    while (true) {
      const PipedreamCell& cell = tables_[level].cell(from, end, machines);
      stages.insert(stages.begin(), {cell.cut < 0 ? from : cell.cut + 1, end + 1, cell.machines, {}});
      if (cell.cut < 0) return stages;
      end = cell.cut;
      machines = cell.rest;
    }
  }

  void flatten(std::size_t level, const std::vector<PlannerStage>& stages, int times,
               std::vector<PlannerStage>& flat) const {
    for (const PlannerStage& stage : stages) {
      if (level == 0) {
        flat.push_back({stage.begin, stage.end, stage.replicas * times, {}});
      } else {
        flatten(level - 1, stages_at(level - 1, stage.begin, stage.end - 1, job_.levels[level - 1].members),
                stage.replicas * times, flat);
      }
    }
  }

  static void number_devices(std::vector<PlannerStage>& stages) {
    int next = 0;
    for (PlannerStage& stage : stages) {
      for (int i = 0; i < stage.replicas; ++i) stage.devices.push_back(next++);
    }
  }

  [[nodiscard]] double data_parallel() const {
    const auto single = static_cast<double>(sums_.time(0, count_)) * factor_;
    double total = single;
    int inner = 1;
    for (const PlannerLevel& level : job_.levels) {
      const double exchanged = exchange(0, count_ - 1, level.members, static_cast<double>(level.bandwidth));
      total = (total + exchanged / inner) / level.members;
      inner = level.members;
    }
    return single / total;
  }

  const PlannerJob& job_;
  const PipedreamOptions& options_;
  PlannerSums sums_;
  Bytes memory_;
  int count_;
  double factor_;
  std::vector<std::vector<double>> times_;  // by first and last state, on one component of the level below
  std::vector<PipedreamTable> tables_;
};

PlannerDecision decide_pipedream(const PlannerJob& job, const PlannerRequest& request) {
  PipedreamOptions options;
  options.as_published = request.as_published;
  options.straight = planner_switch(request, "straight", false);
  options.communication = planner_switch(request, "communication", true);
  options.fewer_machines = planner_switch(request, "fewer-machines", false);
  const PipedreamPlan plan = pipedream_plan(job, options);
  PlannerDecision decision;
  decision.stages = plan.flat;
  decision.predicted = plan.slowest_ns;
  decision.unit = "ns per microbatch, slowest stage";
  note_slowest_device(job, decision);
  return decision;
}

}  // namespace

PipedreamPlan pipedream_plan(const PlannerJob& job, const PipedreamOptions& options) {
  if (job.levels.empty()) {
    not_for_planner("pipedream", "it plans over levels of a topology, and the job has links between pairs",
                    "give levels: devices per machine, machines");
  }
  if (options.straight && !options.fewer_machines) require_planner_layers("pipedream", job, job.device_count());
  // Of the innermost levels a table for every first layer.
  constexpr double kMostSteps = 1e10;
  constexpr double kMostCells = 1 << 26;
  const double layers = job.layer_count();
  for (std::size_t level = 0; level < job.levels.size(); ++level) {
    const double members = job.levels[level].members;
    const double firsts = level + 1 < job.levels.size() ? layers : 1;
    if (layers * layers * members > kMostCells || firsts * layers * layers * members * members / 4 > kMostSteps) {
      not_for_planner("pipedream", "so many layers on so many devices are too many for its tables",
                      "use a coarser profile, or fewer devices");
    }
  }
  return PipedreamSolver(job, options).solve();
}

const PlannerEntry& pipedream_planner() {
  static const PlannerEntry entry{
      .name = "pipedream",
      .summary = "stages with replicas, one topology level at a time, to make the slowest stage as fast as possible",
      .objective = "least time per microbatch of the slowest stage or boundary, in the steady state without a flush",
      .cost_model =
          "stage: (forward and backward + exchange of its weights) / replicas; boundary: 2 x output / (bandwidth x "
          "replicas of the receiver); the stage times of a level are what the level below found",
      .assumes =
          "PipeDream's asynchronous 1F1B, in which replicas take turns; equal devices; weights exchanged once per "
          "microbatch "
          "and not overlapped",
      .published =
          "shipped runtime configurations: VGG-16 15-1 (16 GPUs), 7-1 (8), 3-1 (4); AlexNet 15-1, 3-1; GNMT 1-1-1-1 "
          "(4); ResNet-50 8-4-4, 4-2-2, 2-1-1 beside data parallelism",
      .faults =
          "its program counts a ring's weight exchange twice, does not divide it among the members of a component in a "
          "last stage, and assumes that a last stage keeps nothing for its microbatch, so that less memory drives it "
          "to pure data parallelism",
      .certainty = PlannerCertainty::kVerified,
      .certainty_note =
          "as published it gives the bottlenecks that the authors' program gave on six recorded models; corrected, it "
          "equals brute force on random chains",
      .params = {{"straight", "yes|no", "no", "one device per stage"},
                 {"communication", "yes|no", "yes", "boundaries count; the original leaves them out by default"},
                 {"fewer-machines", "yes|no", "no", "may leave devices idle"}},
      .advice =
          "Ask it where the first layers have few weights and large activations, and the last ones many weights "
          "(convolutions): it replicates the first. It optimises throughput of a stream, not the time of one step with "
          "few microbatches.",
      .citation = "Narayanan et al., PipeDream, SOSP 2019; program: github.com/msr-fiddle/pipedream at 7db6a1c",
      .decide = decide_pipedream};
  return entry;
}

}  // namespace debubble
