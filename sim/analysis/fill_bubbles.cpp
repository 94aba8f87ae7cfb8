#include "sim/analysis/fill_bubbles.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/piece_share.hpp"

namespace debubble {

namespace {

using PlacedKind = PlacedWork::Kind;

struct BubbleSlot {
  Nanoseconds begin = 0;  // counted over all iterations
  Nanoseconds end = 0;
};

// An item must fit with a margin of 5 %, and a moment to spare.
bool holds(const BubbleSlot& slot, Nanoseconds begin, Nanoseconds duration) {
  return begin + duration + duration / 20 < slot.end;
}

// The idle slots of all devices over as many iterations as are needed.
class Slots {
 public:
  explicit Slots(const Timeline& timeline) : timeline_(timeline), slots_(static_cast<std::size_t>(timeline.devices)) {
    longest_.assign(slots_.size(), 0);
    add_iteration();
  }

  [[nodiscard]] int iterations() const { return iterations_; }
  [[nodiscard]] Nanoseconds longest(std::int32_t device) const { return longest_[at(device)]; }

  void add_iteration() {
    const Nanoseconds start = timeline_.makespan * iterations_++;
    for (std::size_t device = 0; device < slots_.size(); ++device) {
      Nanoseconds free = 0;
      const auto add = [&](Nanoseconds until) {
        if (until > free) slots_[device].push_back({start + free, start + until});
        longest_[device] = std::max(longest_[device], until - free);
      };
      for (std::int32_t k = timeline_.device_begin[device]; k < timeline_.device_begin[device + 1]; ++k) {
        const Span& span = timeline_.spans[at(k)];
        add(span.begin);
        free = std::max(free, span.end);
      }
      add(timeline_.makespan);
    }
  }

  // The first moment from `ready` at which a slot of the device holds the item; -1: none so far. Slots before `hint` do
  // not; it is moved along.
  [[nodiscard]] Nanoseconds first(std::int32_t device, Nanoseconds ready, Nanoseconds duration,
                                  std::size_t& hint) const {
    const std::vector<BubbleSlot>& slots = slots_[at(device)];
    for (; hint < slots.size(); ++hint) {
      const Nanoseconds begin = std::max(slots[hint].begin, ready);
      if (holds(slots[hint], begin, duration)) return begin;
    }
    return -1;
  }

  // Takes [begin, begin + duration) out of the slot around it.
  void take(std::int32_t device, Nanoseconds begin, Nanoseconds duration) {
    std::vector<BubbleSlot>& slots = slots_[at(device)];
    const auto behind = std::upper_bound(slots.begin(), slots.end(), begin,
                                         [](Nanoseconds time, const BubbleSlot& slot) { return time < slot.begin; });
    BubbleSlot& slot = *std::prev(behind);
    const BubbleSlot rest{begin + duration, slot.end};
    if (slot.begin == begin) {
      slot = rest;
    } else {
      slot.end = begin;
      slots.insert(behind, rest);
    }
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

  const Timeline& timeline_;
  std::vector<std::vector<BubbleSlot>> slots_;  // by device, in order
  std::vector<Nanoseconds> longest_;
  int iterations_ = 0;
};

class Filler {
 public:
  Filler(const Timeline& timeline, const Schedule& schedule, const ExtraWork& work)
      : timeline_(timeline), schedule_(schedule), work_(work), slots_(timeline) {
    result_.devices.resize(static_cast<std::size_t>(timeline.devices));
    result_.precondition = work.precondition;
    for (int replica = 0; replica < schedule.placement.replicas(); ++replica) {
      for (int stage = 0; stage < schedule.stages; ++stage) {
        holders_[stage].insert(schedule.placement.device_of(replica, stage));
      }
    }
  }

  FilledBubbles run() {
    place_curvature(true);
    place_curvature(false);
    place_syncs(true);
    place_syncs(false);
    place_inverses(true);
    place_inverses(false);
    finish();
    return std::move(result_);
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  // Factor A takes the smaller half of an odd number of nanoseconds.
  [[nodiscard]] Nanoseconds half(Nanoseconds whole, bool first) const {
    const Nanoseconds share = piece_of(whole, schedule_.chunks);
    return (first ? share / 2 : share - share / 2) / work_.parts;
  }

  void place_curvature(bool first) {
    const PieceShares pieces(schedule_);
    std::map<std::pair<std::int32_t, int>, std::size_t> hints;  // by device and class of pieces: equal items
    for (const Span& span : timeline_.spans) {
      const Op* const partner = timeline_.partner(span);
      for (int member = 0; member < (partner != nullptr ? 2 : 1); ++member) {
        const Op& op = member == 0 ? span.op : *partner;
        if (first ? op.kind != OpKind::kForward : !makes_input_gradient(op.kind)) continue;
        const int piece_class = pieces.class_of(op.microbatch);
        const Nanoseconds time = pieces.part(half(work_.curvature, first), piece_class);
        Nanoseconds& done = done_[{op.stage, first}];
        for (int part = 0; part < work_.parts; ++part) {
          const PlacedWork item{first ? PlacedKind::kCurvatureA : PlacedKind::kCurvatureB, op.stage, op.microbatch,
                                part};
          done = std::max(done, place(item, span.device, span.end, time, hints[{span.device, piece_class}]));
        }
      }
    }
  }

  // All holders of the stage at the same time.
  void place_syncs(bool first) {
    const Nanoseconds time = half(work_.sync, first);
    if (time == 0) return;
    for (const auto& [stage, devices] : holders_) {
      Nanoseconds& done = done_[{stage, first}];
      for (int part = 0; part < work_.parts; ++part) {
        const Nanoseconds begin = common_moment(devices, done, time);
        for (const std::int32_t device : devices) {
          record({first ? PlacedKind::kSyncA : PlacedKind::kSyncB, stage, -1, part}, device, begin, time);
        }
        if (begin >= 0) done = begin + time;
      }
    }
  }

  void place_inverses(bool first) {
    for (const auto& [stage, devices] : holders_) {
      const Nanoseconds time = piece_of(half(work_.inverse, first), static_cast<int>(devices.size()));
      const Nanoseconds ready = done_[{stage, first}];
      for (const std::int32_t device : devices) {
        for (int part = 0; part < work_.parts; ++part) {
          std::size_t hint = 0;  // stages become ready in any order
          (void)place({first ? PlacedKind::kInverseA : PlacedKind::kInverseB, stage, -1, part}, device, ready, time,
                      hint);
        }
      }
    }
  }

  // Returns when the item ends; one that no slot holds ends when it is ready.
  Nanoseconds place(const PlacedWork& item, std::int32_t device, Nanoseconds ready, Nanoseconds time,
                    std::size_t& hint) {
    if (time == 0) return ready;
    Nanoseconds begin = -1;
    if (holds({0, slots_.longest(device)}, 0, time)) {
      while ((begin = slots_.first(device, ready, time, hint)) < 0) slots_.add_iteration();
    }
    record(item, device, begin, time);
    return begin < 0 ? ready : begin + time;
  }

  // -1 where two further iterations do not have one: then none has.
  Nanoseconds common_moment(const std::set<std::int32_t>& devices, Nanoseconds ready, Nanoseconds time) {
    for (int attempt = 0; attempt < 3; ++attempt) {
      Nanoseconds moment = ready;
      for (bool agreed = false; !agreed && moment >= 0;) {
        agreed = true;
        for (const std::int32_t device : devices) {
          std::size_t hint = 0;
          const Nanoseconds here = slots_.first(device, moment, time, hint);
          agreed = agreed && here == moment;
          moment = here;
          if (moment < 0) break;
        }
      }
      if (moment >= 0) return moment;
      slots_.add_iteration();
    }
    return -1;
  }

  void record(PlacedWork item, std::int32_t device, Nanoseconds begin, Nanoseconds time) {
    DeviceWork& sum = result_.devices[at(device)];
    sum.work += time;
    if (begin < 0) {
      sum.outside += time;
      return;
    }
    slots_.take(device, begin, time);
    item.device = device;
    item.iteration = static_cast<std::int32_t>(begin / timeline_.makespan);
    item.begin = begin % timeline_.makespan;
    item.end = item.begin + time;
    result_.items.push_back(item);
  }

  void finish() {
    const auto order = [](const PlacedWork& item) { return std::tuple(item.iteration, item.device, item.begin); };
    std::sort(result_.items.begin(), result_.items.end(),
              [&](const PlacedWork& a, const PlacedWork& b) { return order(a) < order(b); });
    result_.iterations = result_.items.empty() ? 1 : result_.items.back().iteration + 1;
    Nanoseconds busy = 0;
    Nanoseconds placed = 0;
    result_.least = 1;
    for (std::size_t d = 0; d < result_.devices.size(); ++d) {
      DeviceWork& device = result_.devices[d];
      Nanoseconds used = 0;
      for (std::int32_t k = timeline_.device_begin[d]; k < timeline_.device_begin[d + 1]; ++k) {
        used += timeline_.spans[at(k)].end - timeline_.spans[at(k)].begin;
      }
      device.bubble = timeline_.makespan - used;
      busy += used;
      placed += device.work - device.outside;
      if (device.work == 0) continue;
      if (device.bubble == 0) result_.least.reset();
      if (!result_.least) continue;
      result_.least = std::max(*result_.least, static_cast<int>((device.work + device.bubble - 1) / device.bubble));
    }
    const double step = static_cast<double>(timeline_.makespan) * timeline_.devices;
    if (step <= 0) return;
    result_.utilisation_before = static_cast<double>(busy) / step;
    result_.utilisation_after = result_.utilisation_before + static_cast<double>(placed) / (step * result_.iterations);
  }

  const Timeline& timeline_;
  const Schedule& schedule_;
  const ExtraWork& work_;
  Slots slots_;
  std::map<int, std::set<std::int32_t>> holders_;     // of a stage: the devices of its replicas
  std::map<std::pair<int, bool>, Nanoseconds> done_;  // by stage and factor (true: A): the last item so far
  FilledBubbles result_;
};

}  // namespace

const char* to_string(PlacedWork::Kind kind) {
  constexpr std::array<const char*, 6> kWords{"curvature A", "curvature B", "sync A",
                                              "sync B",      "inverse A",   "inverse B"};
  return kWords[to_index(kind)];
}

FilledBubbles fill_bubbles(const Timeline& timeline, const Schedule& schedule, const ExtraWork& work) {
  if (timeline.makespan == 0) return FilledBubbles{};
  return Filler(timeline, schedule, work).run();
}

}  // namespace debubble
