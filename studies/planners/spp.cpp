#include "studies/planners/spp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "sim/core/at.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/stages.hpp"

namespace debubble {

namespace {

constexpr double kSppNever = std::numeric_limits<double>::infinity();
constexpr int kMostSppDevices = 64;
constexpr double kMostSppWork = 2e10;  // states times choices

// Stoer and Wagner: the lightest of the cuts of all phases, the first of several. Returns one side.
std::vector<int> lightest_cut(const PlannerJob& job, const std::vector<int>& devices) {
  const std::size_t count = devices.size();
  std::vector<std::vector<double>> weight(count, std::vector<double>(count, 0));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      if (i != j) weight[i][j] = static_cast<double>(pair_bandwidth(job, devices[i], devices[j]));
    }
  }
  std::vector<std::vector<int>> merged(count);
  for (std::size_t i = 0; i < count; ++i) merged[i] = {devices[i]};
  std::vector<std::size_t> alive(count);
  std::iota(alive.begin(), alive.end(), std::size_t{0});
  double least = kSppNever;
  std::vector<int> side;
  while (alive.size() > 1) {
    std::vector<double> attached(count, 0);
    std::vector<std::size_t> rest = alive;
    std::size_t last = rest.front();
    std::size_t before = last;
    while (!rest.empty()) {
      auto next = rest.begin();
      for (auto it = rest.begin(); it != rest.end(); ++it) {
        if (attached[*it] > attached[*next]) next = it;
      }
      before = last;
      last = *next;
      rest.erase(next);
      for (const std::size_t other : rest) attached[other] += weight[last][other];
    }
    if (attached[last] < least) {
      least = attached[last];
      side = merged[last];
    }
    merged[before].insert(merged[before].end(), merged[last].begin(), merged[last].end());
    for (const std::size_t other : alive) {
      weight[before][other] += weight[last][other];
      weight[other][before] = weight[before][other];
    }
    alive.erase(std::find(alive.begin(), alive.end(), last));
  }
  return side;
}

void string_together(const PlannerJob& job, std::vector<int> devices, std::vector<int>& order) {
  std::sort(devices.begin(), devices.end());
  if (devices.size() < 3) {
    order.insert(order.end(), devices.begin(), devices.end());
    return;
  }
  const std::vector<int> side = lightest_cut(job, devices);
  std::vector<int> one, other;
  for (const int device : devices) {
    (std::find(side.begin(), side.end(), device) == side.end() ? one : other).push_back(device);
  }
  if (other.front() < one.front()) std::swap(one, other);
  string_together(job, one, order);
  string_together(job, other, order);
}

class SppSolver {
 public:
  SppSolver(const PlannerJob& job, const std::vector<int>& order, int stages)
      : job_(job),
        order_(order),
        sums_(job),
        layers_(job.layer_count()),
        devices_(job.device_count()),
        stages_(stages),
        factor_(slowest_factor(job)) {
    cells_.resize(to_index(stages + 1) * to_index(layers_ + 1) * to_index(devices_ + 1) * to_index(devices_ + 1));
    find_slowest_pairs();
  }

  // Fills the tables of 1 to the most stages.
  void solve() {
    for (int layer = 1; layer <= layers_; ++layer) {
      for (int used = 1; used <= devices_; ++used) cell(1, layer, used, used).value = time(0, layer) / used;
    }
    for (int stage = 2; stage <= stages_; ++stage) {
      for (int layer = stage; layer <= layers_; ++layer) {
        for (int used = stage; used <= devices_; ++used) {
          for (int replicas = 1; replicas < used; ++replicas) improve(stage, layer, used, replicas);
        }
      }
    }
  }

  [[nodiscard]] SppPlan plan_of(int stages) {
    SppPlan plan{kSppNever, {}};
    int replicas = 0;
    for (int r = 1; r <= devices_; ++r) {
      const double value = cell(stages, layers_, devices_, r).value;
      if (value < plan.bottleneck) {
        plan.bottleneck = value;
        replicas = r;
      }
    }
    if (replicas > 0) trace(plan, stages, replicas);
    return plan;
  }

 private:
  struct Cell {
    double value = kSppNever;
    int cut = 0;
    int before = 0;  // replicas of the stage before
  };
  Cell& cell(int stage, int layer, int used, int replicas) {
    return cells_[((to_index(stage) * to_index(layers_ + 1) + to_index(layer)) * to_index(devices_ + 1) +
                   to_index(used)) *
                      to_index(devices_ + 1) +
                  to_index(replicas)];
  }
  [[nodiscard]] double time(int begin, int end) const { return static_cast<double>(sums_.time(begin, end)) * factor_; }

  // slowest_[(begin of the first group, its end, end of the second)]
  void find_slowest_pairs() {
    const auto size = to_index(devices_ + 1);
    slowest_.assign(size * size * size, kSppNever);
    for (int begin = 0; begin < devices_; ++begin) {
      for (int middle = begin + 1; middle < devices_; ++middle) {
        for (int end = middle + 1; end <= devices_; ++end) {
          double least = end > middle + 1 ? slowest(begin, middle, end - 1) : kSppNever;
          for (int i = begin; i < middle; ++i) {
            least = std::min(least, static_cast<double>(pair_bandwidth(job_, at(order_, i), at(order_, end - 1))));
          }
          slowest_[(to_index(begin) * size + to_index(middle)) * size + to_index(end)] = least;
        }
      }
    }
  }
  [[nodiscard]] double slowest(int begin, int middle, int end) const {
    const auto size = to_index(devices_ + 1);
    return slowest_[(to_index(begin) * size + to_index(middle)) * size + to_index(end)];
  }

  void improve(int stage, int layer, int used, int replicas) {
    Cell& here = cell(stage, layer, used, replicas);
    const int middle = used - replicas;
    for (int cut = stage - 1; cut < layer; ++cut) {
      const double own = time(cut, layer) / replicas;
      if (own >= here.value) continue;
      const double both = 2.0 * static_cast<double>(at(job_.layers, cut - 1).output);
      for (int before = 1; before <= middle; ++before) {
        const double rest = cell(stage - 1, cut, middle, before).value;
        if (rest >= here.value) continue;
        const double sent = both / (slowest(middle - before, middle, used) * before * replicas) * 1e9;
        const double value = std::max({rest, own, sent});
        if (value < here.value) here = {value, cut, before};
      }
    }
  }

  void trace(SppPlan& plan, int stages, int replicas) {
    int layer = layers_;
    int used = devices_;
    for (int stage = stages; stage >= 1; --stage) {
      const Cell here = cell(stage, layer, used, replicas);
      PlannerStage found{here.cut, layer, replicas, {}};
      for (int i = used - replicas; i < used; ++i) found.devices.push_back(at(order_, i));
      plan.stages.insert(plan.stages.begin(), found);
      layer = here.cut;
      used -= replicas;
      replicas = here.before;
    }
  }

  const PlannerJob& job_;
  const std::vector<int>& order_;
  PlannerSums sums_;
  int layers_, devices_, stages_;
  double factor_;
  std::vector<Cell> cells_;
  std::vector<double> slowest_;
};

// Resource 2s is stage s, 2s + 1 the channel behind it. A block is a step of one microbatch: forward over resources
// 0 .. 2S-2, then backward over the same ones in reverse.
class SppExecution {
 public:
  SppExecution(std::vector<double> forward, std::vector<double> backward, int microbatches)
      : forward_(std::move(forward)), backward_(std::move(backward)), count_(microbatches) {
    busy_.assign(forward_.size(), 0);
    ready_.assign(forward_.size(), {});
    for (int i = 0; i < count_; ++i) ready_.front().push_back({false, i});
    run_.rows.resize(forward_.size() / 2 + 1);
  }

  SppRun run() {
    start_all(0);
    while (!running_.empty()) {
      double now = kSppNever;
      for (const Running& block : running_) now = std::min(now, block.end);
      std::vector<Running> left;
      for (const Running& block : running_) {
        if (block.end == now) {
          finish(block);
        } else {
          left.push_back(block);
        }
      }
      running_ = std::move(left);
      run_.makespan = now;
      start_all(now);
    }
    return run_;
  }

 private:
  struct Block {
    bool backward = false;
    int microbatch = 0;
    // Backward first, then the lower microbatch.
    friend bool operator<(const Block& one, const Block& other) {
      return one.backward != other.backward ? one.backward : one.microbatch < other.microbatch;
    }
  };
  struct Running {
    double end = 0;
    std::size_t resource = 0;
    Block block;
  };

  void finish(const Running& done) {
    const std::size_t last = forward_.size() - 1;
    busy_[done.resource] = false;
    if (!done.block.backward) {
      if (done.resource < last) {
        ready_[done.resource + 1].push_back(done.block);
      } else {
        ready_[done.resource].push_back({true, done.block.microbatch});
      }
    } else if (done.resource > 0) {
      ready_[done.resource - 1].push_back(done.block);
    }
  }

  void start_all(double now) {
    for (std::size_t resource = 0; resource < forward_.size(); ++resource) {
      if (busy_[resource] || ready_[resource].empty()) continue;
      const auto first = std::min_element(ready_[resource].begin(), ready_[resource].end());
      const Block block = *first;
      ready_[resource].erase(first);
      busy_[resource] = true;
      running_.push_back({now + (block.backward ? backward_ : forward_)[resource], resource, block});
      if (resource % 2 == 0) run_.rows[resource / 2].push_back(block.backward ? ~block.microbatch : block.microbatch);
    }
  }

  std::vector<double> forward_, backward_;
  int count_;
  std::vector<char> busy_;  // by resource
  std::vector<std::vector<Block>> ready_;
  std::vector<Running> running_;
  SppRun run_;
};

PlannerDecision decide_spp(const PlannerJob& job, const PlannerRequest& request) {
  const bool given = planner_switch(request, "given-order", false);
  if (job.device_count() > kMostSppDevices) {
    not_for_planner("spp", "its tables are for at most " + std::to_string(kMostSppDevices) + " devices",
                    "plan one machine of each kind, or ask another planner");
  }
  const int all = std::min(job.device_count(), job.layer_count());
  const double each = 1.0 * job.layer_count() * job.layer_count() * std::pow(job.device_count(), 3);
  const int most = static_cast<int>(std::min<double>(all, kMostSppWork / each));
  if (most < 1) {
    not_for_planner("spp", "so many layers on so many devices are too many for its tables", "use a coarser profile");
  }
  std::vector<int> order(job.devices.size());
  std::iota(order.begin(), order.end(), 0);
  if (!given) order = spp_order(job);
  PlannerDecision decision;
  decision.predicted = kSppNever;
  SppSolver solver(job, order, most);
  solver.solve();
  for (int stages = 1; stages <= most; ++stages) {
    const SppPlan plan = solver.plan_of(stages);
    if (plan.stages.empty()) continue;
    const double makespan = spp_execution(job, plan.stages).makespan;
    if (makespan >= decision.predicted) continue;
    decision.predicted = makespan;
    decision.stages = plan.stages;
  }
  decision.unit = "ns per step";
  decision.choices = {{"stages", std::to_string(decision.stages.size())}};
  if (most < all) {
    decision.notes.push_back("it tried 1 to " + std::to_string(most) +
                             " stages: more would be too many for its tables");
  }
  note_slowest_device(job, decision);
  return decision;
}

}  // namespace

std::vector<int> spp_order(const PlannerJob& job) {
  std::vector<int> devices(job.devices.size());
  std::iota(devices.begin(), devices.end(), 0);
  std::vector<int> order;
  string_together(job, devices, order);
  return order;
}

SppPlan spp_partition(const PlannerJob& job, const std::vector<int>& order, int stages) {
  SppSolver solver(job, order, stages);
  solver.solve();
  return solver.plan_of(stages);
}

SppRun spp_execution(const std::vector<double>& forward, const std::vector<double>& backward,
                     const std::vector<double>& channel, int microbatches) {
  std::vector<double> ahead, back;
  for (std::size_t s = 0; s < forward.size(); ++s) {
    ahead.push_back(forward[s]);
    back.push_back(backward[s]);
    if (s + 1 == forward.size()) break;
    ahead.push_back(channel[s]);
    back.push_back(channel[s]);
  }
  return SppExecution(std::move(ahead), std::move(back), microbatches).run();
}

SppRun spp_execution(const PlannerJob& job, const std::vector<PlannerStage>& stages) {
  const PlannerSums sums(job);
  const double factor = slowest_factor(job);
  std::vector<double> forward, backward, channel;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const PlannerStage& stage = stages[s];
    const auto ahead = static_cast<double>(sums.forward(stage.begin, stage.end)) * factor;
    forward.push_back(ahead / stage.replicas);
    backward.push_back((static_cast<double>(sums.time(stage.begin, stage.end)) * factor - ahead) / stage.replicas);
    if (s + 1 == stages.size()) break;
    double slowest = kSppNever;
    for (const int one : stage.devices) {
      for (const int other : stages[s + 1].devices) {
        slowest = std::min(slowest, static_cast<double>(pair_bandwidth(job, one, other)));
      }
    }
    channel.push_back(static_cast<double>(at(job.layers, stage.end - 1).output) /
                      (slowest * stage.replicas * stages[s + 1].replicas) * 1e9);
  }
  return spp_execution(forward, backward, channel, job.microbatches);
}

const PlannerEntry& spp_planner() {
  static const PlannerEntry entry{
      .name = "spp",
      .summary =
          "device order by minimum cuts, stages with replicas by dynamic programming, execution by list scheduling",
      .objective = "shortest step of the list schedule, over all numbers of stages",
      .cost_model =
          "stage: (forward and backward) / replicas; channel: output both ways / (slowest pair x replicas of both "
          "sides); the step by list scheduling over stages and channels",
      .assumes =
          "equal devices, any links between them; every channel carries both directions one at a time; no limit to the "
          "microbatches in flight, so that memory can exceed 1F1B's; the exchange of weights is not counted",
      .published = "none known to us: up to 157 % faster than its baselines (abstract)",
      .faults = "",
      .certainty = PlannerCertainty::kRecalled,
      .certainty_note =
          "only the abstract was available; the partition equals brute force, the makespan keeps the guarantee (M + 4S "
          "- 4) W, as we remember it, on random cases, and both agree with separately written programs",
      .params = {{"given-order", "yes|no", "no", "keeps the devices in the order of their ids"}},
      .advice =
          "Ask it for uneven links. A better order of devices can make the list schedule longer: list schedules are "
          "not monotone in bandwidth.",
      .citation =
          "Luo et al., Efficient Pipeline Planning for Expedited Distributed DNN Training, INFOCOM 2022, arXiv "
          "2204.10562",
      .decide = decide_spp};
  return entry;
}

}  // namespace debubble
