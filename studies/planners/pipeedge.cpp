// PipeEdge: which devices of an unequal set, in which order, with which layers, for the most inferences per second.
// Hu et al., DSD 2022, arXiv 2110.14895; the recurrence is that of its C++ scheduler (usc-isi/PipeEdge at 1a68bbb):
//
//     h(i, used, u): least bottleneck of layers [0, i) on the multiset `used` of types when a device of type u is next
//     h(j, used + u, v) = min over i < j of max(h(i, used, u), time_u(i..j), output_j / min(bandwidth_u, bandwidth_v))
//
// Ties: fewest layers last found, as strict improvement over i, used, u, j, v in ascending order leaves them.
#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "sim/core/at.hpp"
#include "studies/planners/contract.hpp"
#include "studies/planners/params.hpp"

namespace debubble {

namespace {

constexpr double kNoBottleneck = std::numeric_limits<double>::infinity();

struct PipeedgeCell {
  double bottleneck = kNoBottleneck;
  int begin = -1;     // of the last stage
  int last_type = 0;  // of its device; the cell it came from is that of (begin, used less that one, that type)
};

class PipeedgeSolver {
 public:
  PipeedgeSolver(const PlannerJob& job, bool as_published, int depth)
      : job_(job), sums_(job), types_(static_cast<int>(job.types.size())), depth_(depth) {
    hosts_.assign(to_index(types_), 0);
    for (const int type : job.devices) ++at(hosts_, type);
    for (int type = 0; type < types_; ++type) cost_type_.push_back(type);
    if (as_published) mistake_types();
    std::size_t size = 1;
    for (const int count : hosts_) {
      strides_.push_back(size);
      size *= to_index(count + 1);
      if (size * job.layers.size() * to_index(types_) > kMostPipeedgeCells) {
        not_for_planner("pipeedge", "so many types and counts of devices are too many for its table",
                        "use fewer types of devices");
      }
    }
    multisets_ = size;
    cells_.resize((job.layers.size() + 1) * size * to_index(types_));
    sent_ = bandwidths();
  }

  PlannerDecision solve() {
    for (int type = 0; type < types_; ++type) {
      if (at(hosts_, type) > 0) cell(0, 0, type).bottleneck = 0;
    }
    for (int begin = 0; begin < sums_.count(); ++begin) {
      for (std::size_t used = 0; used < multisets_; ++used) {
        for (int type = 0; type < types_; ++type) extend(begin, used, type);
      }
    }
    if (best_.bottleneck == kNoBottleneck) {
      no_plan_fits("pipeedge", "no choice of devices holds all layers with their buffers",
                   "use more devices, or devices with more memory");
    }
    return trace();
  }

 private:
  static constexpr std::size_t kMostPipeedgeCells = std::size_t{1} << 22;

  // The original looks type u up in the list of hosts, where each host stands with its type.
  void mistake_types() {
    std::vector<int> by_host;
    for (int type = 0; type < types_; ++type) {
      for (int i = 0; i < at(hosts_, type); ++i) by_host.push_back(type);
    }
    for (int type = 0; type < types_; ++type)
      at(cost_type_, type) = at(by_host, std::min<int>(type, job_.device_count() - 1));
  }

  // It knows no places, so a device without a card of its own gets the slowest link there is.
  [[nodiscard]] std::int64_t slowest_of_all() const {
    std::int64_t slowest = kUnlimitedLink;
    for (const PlannerLevel& level : job_.levels) {
      if (level.members > 1 && job_.links.empty()) slowest = std::min(slowest, level.bandwidth);
    }
    for (std::size_t i = 0; i < job_.links.size(); ++i) {
      if (i / job_.devices.size() != i % job_.devices.size()) slowest = std::min(slowest, job_.links[i]);
    }
    return slowest;
  }

  [[nodiscard]] std::vector<double> bandwidths() const {
    std::vector<double> all;
    for (const int type : cost_type_) {
      const std::int64_t own = at(job_.types, type).bandwidth;
      all.push_back(static_cast<double>(own > 0 ? own : slowest_of_all()));
    }
    return all;
  }

  PipeedgeCell& cell(int end, std::size_t used, int type) {
    return cells_[(to_index(end) * multisets_ + used) * to_index(types_) + to_index(type)];
  }
  [[nodiscard]] int count_in(std::size_t used, int type) const {
    return static_cast<int>(used / at(strides_, type) % to_index(at(hosts_, type) + 1));
  }

  [[nodiscard]] Bytes output(int end) const { return end == 0 ? 0 : at(job_.layers, end - 1).output; }

  // Weights, buffers to receive and to send, and what is being worked on; strictly less than the memory.
  [[nodiscard]] bool fits(int begin, int end, int type) const {
    const Bytes memory = at(job_.types, at(cost_type_, type)).memory;
    if (memory == 0) return true;
    const bool last = end == sums_.count();
    const Bytes in = output(begin);
    const Bytes out = output(end);
    const Bytes buffers = (begin > 0 ? in * depth_ : 0) + (last ? 0 : out * depth_) + in + out;
    return memory > sums_.parameters(begin, end) + buffers;
  }

  [[nodiscard]] double compute(int begin, int end, int type) const {
    return static_cast<double>(sums_.forward(begin, end)) * at(job_.types, at(cost_type_, type)).time_factor;
  }

  void extend(int begin, std::size_t used, int type) {
    const double before = cell(begin, used, type).bottleneck;
    if (before == kNoBottleneck || count_in(used, type) == at(hosts_, type)) return;
    const std::size_t next = used + at(strides_, type);
    for (int end = begin + 1; end <= sums_.count(); ++end) {
      if (!fits(begin, end, type)) continue;
      const double value = std::max(before, compute(begin, end, type));
      if (end == sums_.count()) {
        if (value < best_.bottleneck) {
          best_ = {value, begin, type};
          best_used_ = used;
        }
        continue;
      }
      for (int follower = 0; follower < types_; ++follower) {
        if (count_in(next, follower) == at(hosts_, follower)) continue;
        const double sent = static_cast<double>(output(end)) / std::min(at(sent_, type), at(sent_, follower)) * 1e9;
        PipeedgeCell& target = cell(end, next, follower);
        if (std::max(value, sent) < target.bottleneck) target = {std::max(value, sent), begin, type};
      }
    }
  }

  PlannerDecision trace() {
    PlannerDecision decision;
    decision.predicted = best_.bottleneck;
    decision.unit = "ns per microbatch, slowest stage or transfer";
    PipeedgeCell here = best_;
    std::size_t used = best_used_;
    int end = sums_.count();
    std::vector<int> types;
    while (true) {
      decision.stages.insert(decision.stages.begin(), {here.begin, end, 1, {}});
      types.insert(types.begin(), here.last_type);
      if (here.begin == 0) break;
      end = here.begin;
      here = cell(end, used, here.last_type);
      used -= at(strides_, here.last_type);
    }
    name_devices(decision, types);
    return decision;
  }

  // The first device of the type that is still free.
  void name_devices(PlannerDecision& decision, const std::vector<int>& types) const {
    std::vector<bool> taken(job_.devices.size(), false);
    for (std::size_t stage = 0; stage < types.size(); ++stage) {
      for (std::size_t device = 0; device < job_.devices.size(); ++device) {
        if (taken[device] || job_.devices[device] != types[stage]) continue;
        taken[device] = true;
        decision.stages[stage].devices = {static_cast<int>(device)};
        break;
      }
    }
  }

  const PlannerJob& job_;
  PlannerSums sums_;
  int types_;
  int depth_;
  std::vector<int> hosts_;      // by type: how many
  std::vector<int> cost_type_;  // by type: whose times, memory and bandwidth it is given
  std::vector<std::size_t> strides_;
  std::size_t multisets_ = 1;
  std::vector<double> sent_;
  std::vector<PipeedgeCell> cells_;
  PipeedgeCell best_;
  std::size_t best_used_ = 0;
};

PlannerDecision decide_pipeedge(const PlannerJob& job, const PlannerRequest& request) {
  const int depth = planner_count(request, "depth", 2, 0, 1000);
  PlannerDecision decision = PipeedgeSolver(job, request.as_published, depth).solve();
  const auto stages = static_cast<int>(decision.stages.size());
  if (stages < job.device_count()) {
    decision.notes.push_back("it leaves " + std::to_string(job.device_count() - stages) + " of " +
                             std::to_string(job.device_count()) + " devices idle");
  }
  decision.notes.emplace_back("it plans inference: forward times only");
  return decision;
}

}  // namespace

const PlannerEntry& pipeedge_planner() {
  static const PlannerEntry entry{
      .name = "pipeedge",
      .summary = "which of several unequal devices, in which order, with which layers, for inference",
      .objective = "least time per microbatch of the slowest stage or transfer, forward only",
      .cost_model =
          "stage: forward times of its device's type; transfer: output / the lower of both cards' bandwidths, beside "
          "compute, not added to it; memory: weights, send and receive buffers of depth 2, and what is being worked on",
      .assumes =
          "inference of a stream; any device reaches any other, at the slowest link's pace where it has no card of its "
          "own; devices of a type are alike",
      .published =
          "ViT-Base on 1 Minnowboard and 7 RCC-VE: R[1,6] M[7,11] R[12,18], then five of 6 layers (its README's "
          "profiles)",
      .faults =
          "its program indexes the list of hosts by type, so that with two or more hosts of the first type the second "
          "type is given the first one's times, memory and bandwidth; its README's 4+4 example is such a plan",
      .certainty = PlannerCertainty::kVerified,
      .certainty_note =
          "as published it gives the bottlenecks of the authors' program on seven sets of hosts; corrected, it equals "
          "brute force on random cases",
      .params = {{"depth", "0..1000", "2", "buffers between two stages, in microbatches, on either side"}},
      .advice = "Ask it for unequal devices; it may leave some of them idle. It does not know about training.",
      .citation = "Hu et al., PipeEdge, DSD 2022, arXiv 2110.14895; program: github.com/usc-isi/PipeEdge at 1a68bbb",
      .decide = decide_pipeedge,
      .cuts_only = true};
  return entry;
}

}  // namespace debubble
