// The things of a timeline in the order of a Perfetto trace: each track's as they run, merged by SliceOrder. Used by
// perfetto_trace.cpp only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/exporters/chrome_trace_causes.hpp"
#include "formats/exporters/chrome_trace_lanes.hpp"
#include "sim/analysis/idle_gaps.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/at.hpp"
#include "sim/core/timeline.hpp"

namespace debubble::trace_detail {

// By begin, then by track: one place for each lane or group of lanes of a device, which is in order of time itself.
struct SliceOrder {
  enum Group : std::uint8_t { kCompute, kIdle, kSend, kReceive, kCopy, kCollective, kExtraWork, kMemory };

  Nanoseconds begin = 0;
  std::int32_t device = 0;  // the critical path is as of a device after all others
  std::uint8_t group = kCompute;
  Nanoseconds end = 0;

  friend bool operator<(const SliceOrder& a, const SliceOrder& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    return std::tie(a.device, a.group, a.end) < std::tie(b.device, b.group, b.end);
  }
};

// Things of one track, or of a device's transfers one way, in order of time; and the next of them.
struct TrackSource {
  enum class Things : std::uint8_t {
    kSpans,
    kLaneSteps,
    kGaps,
    kTransfers,
    kCopies,
    kSteps,
    kExtraWork,
    kLevels,
    kPath
  };

  Things things = Things::kSpans;
  SliceOrder next;
  std::int32_t at = 0;  // into `order`, or of the thing itself
  std::int32_t end = 0;
  std::vector<std::int32_t> order;  // empty: as they are

  [[nodiscard]] std::int32_t index() const { return order.empty() ? at : order[to_index(at)]; }
};

class TrackSources {
 public:
  // All of them must outlive it. `extra_work` and `causes` may be null.
  TrackSources(const Timeline& timeline, const std::vector<std::vector<MemoryPoint>>& memory,
               const FilledBubbles* extra_work, const CauseTracks* causes)
      : timeline_(timeline), memory_(memory), extra_work_(extra_work), causes_(causes) {
    add_sources();
  }

  // visit(const TrackSource&) for each thing.
  template <typename Visit>
  void pass(const Visit& visit) {
    const auto later = [&](std::size_t a, std::size_t b) { return sources_[b].next < sources_[a].next; };
    std::vector<std::size_t> heap;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      set_next(sources_[i]);
      heap.push_back(i);
    }
    std::make_heap(heap.begin(), heap.end(), later);
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      TrackSource& source = sources_[heap.back()];
      visit(static_cast<const TrackSource&>(source));
      if (++source.at == source.end) {
        heap.pop_back();
        continue;
      }
      set_next(source);
      std::push_heap(heap.begin(), heap.end(), later);
    }
  }

 private:
  using Things = TrackSource::Things;

  void add_source(Things things, std::int32_t device, SliceOrder::Group group, std::int32_t first, std::int32_t end) {
    if (first == end) return;
    TrackSource source;
    source.things = things;
    source.next.device = device;
    source.next.group = group;
    source.at = first;
    source.end = end;
    sources_.push_back(std::move(source));
  }

  // The things of each device, by `device_of`, in the order of `before`, or else as they are.
  template <typename Thing, typename DeviceOf, typename Before>
  void add_by_device(Things things, SliceOrder::Group group, const std::vector<Thing>& all, const DeviceOf& device_of,
                     const Before& before) {
    std::vector<std::vector<std::int32_t>> by_device(to_index(timeline_.devices));
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (const std::int32_t device = device_of(all[i]); device >= 0)
        at(by_device, device).push_back(static_cast<std::int32_t>(i));
    }
    for (std::int32_t device = 0; device < timeline_.devices; ++device) {
      std::vector<std::int32_t>& order = at(by_device, device);
      if (order.empty()) continue;
      std::stable_sort(order.begin(), order.end(),
                       [&](std::int32_t a, std::int32_t b) { return before(at(all, a), at(all, b)); });
      add_source(things, device, group, 0, static_cast<std::int32_t>(order.size()));
      sources_.back().order = std::move(order);
    }
  }

  void add_sources() {
    for (std::int32_t device = 0; device < timeline_.devices; ++device) {
      add_source(Things::kSpans, device, SliceOrder::kCompute, at(timeline_.device_begin, device),
                 at(timeline_.device_begin, device + 1));
      if (to_index(device) >= memory_.size()) continue;
      add_source(Things::kLevels, device, SliceOrder::kMemory, 0,
                 static_cast<std::int32_t>(at(memory_, device).size()));
    }
    add_transfers();
    const auto by_time = [](const auto& a, const auto& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    };
    const auto on_compute = [](const StepSpan& step) { return step.lane == StepTask::Lane::kCompute; };
    add_by_device(
        Things::kLaneSteps, SliceOrder::kCompute, timeline_.steps,
        [&](const StepSpan& step) { return on_compute(step) ? step.device : -1; }, by_time);
    add_by_device(
        Things::kSteps, SliceOrder::kCollective, timeline_.steps,
        [&](const StepSpan& step) { return on_compute(step) ? -1 : step.device; }, by_time);
    add_by_device(
        Things::kCopies, SliceOrder::kCopy, timeline_.copies, [](const CopySpan& copy) { return copy.device; },
        by_time);
    if (extra_work_ != nullptr) {
      add_by_device(
          Things::kExtraWork, SliceOrder::kExtraWork, extra_work_->items,
          [](const PlacedWork& item) { return item.device; }, by_time);
    }
    if (causes_ == nullptr) return;
    const std::vector<IdleGap>& gaps = causes_->gaps();
    for (std::size_t first = 0, end = 0; first < gaps.size(); first = end) {
      while (end < gaps.size() && gaps[end].device == gaps[first].device) ++end;
      add_source(Things::kGaps, gaps[first].device, SliceOrder::kIdle, static_cast<std::int32_t>(first),
                 static_cast<std::int32_t>(end));
    }
    add_source(Things::kPath, timeline_.devices, SliceOrder::kCompute, 0,
               static_cast<std::int32_t>(causes_->path().size()));
  }

  void add_transfers() {
    const auto before = [](const Transfer& a, const Transfer& b) { return transfer_key(a) < transfer_key(b); };
    const auto shown = [&](const Transfer& t, std::int32_t device) {
      return TraceLanes::shows(timeline_, t) ? device : -1;
    };
    add_by_device(
        Things::kTransfers, SliceOrder::kSend, timeline_.transfers,
        [&](const Transfer& t) { return shown(t, t.from_device); }, before);
    add_by_device(
        Things::kTransfers, SliceOrder::kReceive, timeline_.transfers,
        [&](const Transfer& t) { return shown(t, t.to_device); }, before);
  }

  void set_next(TrackSource& source) const {
    const auto set = [&](const auto& thing) {
      source.next.begin = thing.begin;
      source.next.end = thing.end;
    };
    const std::int32_t index = source.index();
    switch (source.things) {
      case Things::kSpans:
        return set(at(timeline_.spans, index));
      case Things::kLaneSteps:
      case Things::kSteps:
        return set(at(timeline_.steps, index));
      case Things::kGaps:
        return set(at(causes_->gaps(), index));
      case Things::kTransfers:
        return set(at(timeline_.transfers, index));
      case Things::kCopies:
        return set(at(timeline_.copies, index));
      case Things::kExtraWork:
        return set(at(extra_work_->items, index));
      case Things::kPath:
        return set(at(causes_->path(), index));
      case Things::kLevels:
        source.next.begin = source.next.end = at(at(memory_, source.next.device), index).at;
    }
  }

  const Timeline& timeline_;
  const std::vector<std::vector<MemoryPoint>>& memory_;
  const FilledBubbles* extra_work_;
  const CauseTracks* causes_;
  std::vector<TrackSource> sources_;
};

}  // namespace debubble::trace_detail
