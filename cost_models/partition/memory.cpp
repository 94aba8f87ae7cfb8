// In three steps: the cut that balances time, where that fits; else, where each device has one stage, the fastest that
// fits, and if none does the one that lacks least, both by StageCuts; else a search from several starts.
//
// One stage on each device is exact because a stage's lack then depends on its own layers alone, so that stages may be
// chosen one by one. Where devices hold several, a device's memory is dealt to its stages, each cut so found again by
// StageCuts, and single layers are moved while that improves (lack, slowest stage, squares): every score is that of the
// whole cut, so the answer says truly whether it fits, and the first start is `start`, so that it lacks no more than
// that.
#include "cost_models/partition/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "cost_models/partition/stage_cuts.hpp"
#include "sim/core/at.hpp"
#include "sim/core/wide.hpp"

namespace debubble {
namespace {

Bytes held_bytes_of(const HeldCounts& held, const RangeCost& cost) {
  return held.activations * cost.activation + held.weight_grads * cost.weight_grad +
         held.checkpoints * cost.checkpoint + held.running * cost.workspace;
}

// `cost_of(stage)`: of the range that the stage is made of; null: it is not looked at.
template <typename CostOf>
Bytes device_need(const DeviceHolds& device, const CostOf& cost_of) {
  Bytes states = 0;
  Bytes buffers = 0;
  for (const DeviceHolds::States& held : device.stages) {
    const RangeCost* const cost = cost_of(held.stage);
    if (cost == nullptr) continue;
    if (held.own) states += cost->states;
    buffers = std::max(buffers, cost->buffers);
  }
  Bytes most = 0;
  for (const HeldTogether& moment : device.moments) {
    Bytes bytes = 0;
    for (const HeldCounts& held : moment) {
      const RangeCost* const cost = cost_of(held.stage);
      if (cost != nullptr) bytes += held_bytes_of(held, *cost);
    }
    most = std::max(most, bytes);
  }
  return states + buffers + most;
}

std::vector<const RangeCost*> ranges_of(const MemoryCutJob& job, const std::vector<int>& layers) {
  std::vector<const RangeCost*> ranges;
  int begin = 0;
  for (std::size_t s = 0; s < layers.size(); ++s) {
    ranges.push_back(&(*job.by_stage[s])(begin, begin + layers[s]));
    begin += layers[s];
  }
  return ranges;
}

// By device.
std::vector<Bytes> device_needs(const MemoryCutJob& job, const std::vector<int>& layers) {
  const std::vector<const RangeCost*> ranges = ranges_of(job, layers);
  std::vector<Bytes> needs;
  for (const DeviceHolds& device : job.devices) {
    needs.push_back(device_need(device, [&](int stage) { return at(ranges, stage); }));
  }
  return needs;
}

// What a cut is judged by: what lacks, then the slowest stage, then how uneven the stages are.
struct CutScore {
  Bytes lacking = 0;
  Nanoseconds slowest = 0;
  WideUnsigned squares = 0;

  friend bool operator<(const CutScore& a, const CutScore& b) {
    return std::tie(a.lacking, a.slowest, a.squares) < std::tie(b.lacking, b.slowest, b.squares);
  }
};

CutScore score_of(const MemoryCutJob& job, const std::vector<int>& layers) {
  CutScore score;
  const std::vector<Bytes> needs = device_needs(job, layers);
  for (std::size_t d = 0; d < needs.size(); ++d) score.lacking = std::max(score.lacking, needs[d] - job.rooms[d]);
  for (const RangeCost* const range : ranges_of(job, layers)) {
    score.slowest = std::max(score.slowest, range->time);
    const auto time = static_cast<WideUnsigned>(range->time);
    score.squares += time * time;
  }
  return score;
}

using RoomsByStage = std::vector<std::vector<std::pair<int, Bytes>>>;  // of each stage: devices, and its room there

// What the stage alone needs of its devices, less its rooms there.
Bytes lack_alone(const MemoryCutJob& job, const RoomsByStage& rooms, int stage, const RangeCost& range) {
  Bytes lack = 0;
  bool first = true;
  for (const auto& [device, room] : at(rooms, stage)) {
    const Bytes need =
        device_need(at(job.devices, device), [&](int other) { return other == stage ? &range : nullptr; });
    lack = first ? need - room : std::max(lack, need - room);
    first = false;
  }
  return lack;
}

// Of stages that each have rooms of their own: the fastest cut that fits, or that whose largest lack is the least.
std::vector<int> cut_by_stage(const MemoryCutJob& job, const RoomsByStage& rooms) {
  constexpr Bytes kHalf = Bytes{1} << 62;  // so that no lack is below 0
  StageCuts cuts(static_cast<int>(job.by_stage.size()), job.by_stage.front()->layers());
  const auto weighed = [&](bool fits) {
    return cuts.evenest(false, [&](int stage, int begin, int end, WideUnsigned most) {
      const RangeCost& range = (*at(job.by_stage, stage))(begin, end);
      const auto time = static_cast<WideUnsigned>(range.time);
      if (fits && time > most) return StageWeight{kNoCut, time};
      const Bytes lack = lack_alone(job, rooms, stage, range);
      if (fits) return StageWeight{lack > 0 ? kNoCut : time, time};
      return StageWeight{static_cast<WideUnsigned>(lack + kHalf), time};
    });
  };
  if (std::optional<std::vector<int>> found = weighed(true)) return *found;
  return *weighed(false);
}

// Where devices hold several stages.
class SharedDevices {
 public:
  explicit SharedDevices(const MemoryCutJob& job) : job_(job) {}

  std::vector<int> run() {
    std::vector<int> best = improved(job_.start);
    std::vector<int> from = job_.start;
    constexpr int kDeals = 3;
    for (int deal = 0; deal < kDeals; ++deal) {
      from = dealt(from);
      std::vector<int> other = improved(from);
      if (score_of(job_, other) < score_of(job_, best)) best = std::move(other);
    }
    return best;
  }

 private:
  // An exact cut in which every stage has the share of its device's memory that it needs of it in that cut.
  [[nodiscard]] std::vector<int> dealt(const std::vector<int>& cut) const {
    const std::vector<const RangeCost*> ranges = ranges_of(job_, cut);
    RoomsByStage rooms(cut.size());
    for (std::size_t d = 0; d < job_.devices.size(); ++d) {
      const DeviceHolds& device = job_.devices[d];
      std::vector<std::pair<int, double>> needs;  // of each stage once
      double all = 0;
      for (const DeviceHolds::States& held : device.stages) {
        if (std::any_of(needs.begin(), needs.end(), [&](const auto& one) { return one.first == held.stage; })) continue;
        const Bytes need =
            device_need(device, [&](int other) { return other == held.stage ? at(ranges, other) : nullptr; });
        needs.emplace_back(held.stage, static_cast<double>(need) + 1);
        all += needs.back().second;
      }
      for (const auto& [stage, need] : needs) {
        at(rooms, stage)
            .emplace_back(static_cast<int>(d), static_cast<Bytes>(static_cast<double>(job_.rooms[d]) * need / all));
      }
    }
    return cut_by_stage(job_, rooms);
  }

  // Moves single layers from the stages of the device that lacks most, or from the slowest stage, while that helps.
  [[nodiscard]] std::vector<int> improved(std::vector<int> cut) const {
    CutScore score = score_of(job_, cut);
    for (int left = 4 * job_.by_stage.front()->layers(); left > 0; --left) {
      std::optional<std::vector<int>> better;
      for (const int from : givers(cut, score)) {
        if (at(cut, from) < 2) continue;
        for (int to = 0; to < static_cast<int>(cut.size()); ++to) {
          if (to == from) continue;
          std::vector<int> moved = cut;  // the stages between shift by one layer
          --at(moved, from);
          ++at(moved, to);
          const CutScore other = score_of(job_, moved);
          if (!(other < score)) continue;
          score = other;
          better = std::move(moved);
        }
      }
      if (!better) break;
      cut = std::move(*better);
    }
    return cut;
  }

  [[nodiscard]] std::vector<int> givers(const std::vector<int>& cut, const CutScore& score) const {
    std::vector<int> from;
    if (score.lacking > 0) {
      const std::vector<Bytes> needs = device_needs(job_, cut);
      for (std::size_t d = 0; d < needs.size(); ++d) {
        if (needs[d] - job_.rooms[d] < score.lacking) continue;
        for (const DeviceHolds::States& held : job_.devices[d].stages) from.push_back(held.stage);
      }
      return from;
    }
    const std::vector<const RangeCost*> ranges = ranges_of(job_, cut);
    for (std::size_t s = 0; s < ranges.size(); ++s) {
      if (ranges[s]->time == score.slowest) from.push_back(static_cast<int>(s));
    }
    return from;
  }

  const MemoryCutJob& job_;
};

std::vector<int> cut_for_rooms(const MemoryCutJob& job) {
  const bool one_each = std::all_of(job.devices.begin(), job.devices.end(),
                                    [](const DeviceHolds& device) { return device.stages.size() < 2; });
  if (!one_each || job.devices.size() != job.by_stage.size()) return SharedDevices(job).run();
  RoomsByStage rooms(job.by_stage.size());
  for (std::size_t d = 0; d < job.devices.size(); ++d) {
    const std::int32_t stage = job.devices[d].stages.front().stage;
    at(rooms, stage).emplace_back(static_cast<int>(d), job.rooms[d]);
  }
  return cut_by_stage(job, rooms);
}

}  // namespace

LayerCut memory_partition(const MemoryCutJob& job) {
  LayerCut made;
  made.layers = score_of(job, job.start).lacking > 0 ? cut_for_rooms(job) : job.start;
  made.needs = device_needs(job, made.layers);
  made.lacking = score_of(job, made.layers).lacking;
  return made;
}

}  // namespace debubble
