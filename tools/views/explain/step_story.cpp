#include "tools/views/explain/step_story.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sim/analysis/analyse.hpp"
#include "sim/analysis/path_parts.hpp"
#include "sim/core/at.hpp"
#include "sim/core/words.hpp"
#include "tools/views/explain/words.hpp"

namespace debubble {
namespace {

// Spans of one device in a row on the path, with the transfers that led to them.
struct OpStay {
  std::int32_t device = -1;
  std::vector<std::int32_t> spans;
  int hops = 0;  // before the first of them
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Nanoseconds compute = 0;
  Nanoseconds transfer = 0;
  bool other = false;  // a task of the step, or a barrier
  std::string what;
};

// A device that works through no more than this is a hop from one to another.
constexpr std::size_t kPassing = 2;

class Grouper {
 public:
  explicit Grouper(const Timeline& timeline) : timeline_(timeline) {}

  std::vector<PathGroup> run() {
    for (const Gate& gate : critical_path(timeline_)) add(gate);
    flush_transfers();
    std::vector<PathGroup> groups;
    for (std::size_t k = 0; k < stays_.size();) {
      std::size_t next = k + 1;
      while (next < stays_.size() && passes(stays_[k]) && passes(stays_[next])) ++next;
      groups.push_back(group(k, next));
      k = next;
    }
    return groups;
  }

 private:
  static bool passes(const OpStay& stay) { return !stay.other && stay.spans.size() <= kPassing; }

  void add(const Gate& gate) {
    const Times times = times_of(gate, timeline_);
    switch (gate.kind) {
      case Gate::Kind::kStart:
        return;
      case Gate::Kind::kSpan:
        return add_span(gate.index);
      case Gate::Kind::kTransfer:
      case Gate::Kind::kCopy:
        if (waiting_.empty()) waiting_begin_ = times.begin;
        waiting_.push_back(times);
        waiting_what_ = in_words(gate, timeline_);
        return;
      case Gate::Kind::kCollective:
      case Gate::Kind::kStep: {
        flush_transfers();
        OpStay stay;
        stay.other = true;
        stay.begin = times.begin;
        stay.end = times.end;
        stay.what = in_words(gate, timeline_);
        stays_.push_back(stay);
        return;
      }
    }
  }

  void add_span(std::int32_t index) {
    const Span& span = at(timeline_.spans, index);
    const bool goes_on = !stays_.empty() && !stays_.back().other && stays_.back().device == span.device;
    if (!goes_on) {
      OpStay stay;
      stay.device = span.device;
      stay.begin = waiting_.empty() ? span.begin : waiting_begin_;
      stays_.push_back(stay);
    }
    OpStay& stay = stays_.back();
    for (const Times& times : waiting_) {
      stay.transfer += times.end - times.begin;
      ++stay.hops;
    }
    waiting_.clear();
    stay.spans.push_back(index);
    stay.compute += span.end - span.begin;
    stay.end = span.end;
  }

  // Transfers that no op follows: on their own.
  void flush_transfers() {
    if (waiting_.empty()) return;
    OpStay stay;
    stay.other = true;
    stay.begin = waiting_begin_;
    stay.end = waiting_.back().end;
    for (const Times& times : waiting_) stay.transfer += times.end - times.begin;
    stay.what = waiting_what_;
    waiting_.clear();
    stays_.push_back(stay);
  }

  [[nodiscard]] std::string cell(std::int32_t index) const { return name_of(at(timeline_.spans, index), timeline_); }

  [[nodiscard]] PathGroup group(std::size_t first, std::size_t last) const {
    PathGroup group;
    group.begin = stays_[first].begin;
    group.end = stays_[last - 1].end;
    std::set<std::int32_t> devices;
    int hops = 0;
    for (std::size_t k = first; k < last; ++k) {
      const OpStay& stay = stays_[k];
      group.compute += stay.compute;
      group.transfer += stay.transfer;
      group.things += stay.other ? 1 : stay.spans.size() + static_cast<std::size_t>(stay.hops);
      hops += stay.hops;
      devices.insert(stay.device);
    }
    const OpStay& from = stays_[first];
    const OpStay& to = stays_[last - 1];
    if (from.other) {
      group.what = from.what;
    } else if (last - first == 1) {
      group.what = one_device(from);
    } else {
      group.what = fmt::format("from device to device: {} to {}, over {} device{}{}", cell(from.spans.front()),
                               cell(to.spans.back()), devices.size(), devices.size() == 1 ? "" : "s",
                               hops == 0 ? "" : fmt::format(", {} hop{}", hops, hops == 1 ? "" : "s"));
    }
    return group;
  }

  [[nodiscard]] std::string one_device(const OpStay& stay) const {
    std::string text = fmt::format("device {} computes {}", stay.device, cell(stay.spans.front()));
    if (stay.spans.size() > 1) {
      text += fmt::format(" to {}, {} ops", cell(stay.spans.back()), stay.spans.size());
    }
    return stay.hops == 0 ? text : text + fmt::format(", after {} hop{}", stay.hops, stay.hops == 1 ? "" : "s");
  }

  const Timeline& timeline_;
  std::vector<OpStay> stays_;
  std::vector<Times> waiting_;  // transfers since the last span
  Nanoseconds waiting_begin_ = 0;
  std::string waiting_what_;
};

// "compute on device 3 (stages 3, 7)"
std::string compute_on(std::int32_t device, const Schedule& schedule) {
  std::set<int> stages;
  for (int replica = 0; replica < schedule.placement.replicas(); ++replica) {
    for (int stage = 0; stage < schedule.placement.stages(); ++stage) {
      if (schedule.placement.device_of(replica, stage) == device) stages.insert(stage);
    }
  }
  std::string list;
  for (const int stage : stages) list += (list.empty() ? "" : ", ") + std::to_string(stage);
  return fmt::format("compute on device {} ({} {})", device, stages.size() == 1 ? "stage" : "stages", list);
}

}  // namespace

std::vector<PathGroup> path_groups(const Timeline& timeline) { return Grouper(timeline).run(); }

std::vector<PathShare> path_shares(const Simulated& run) {
  const PathParts parts = path_parts(run.result.timeline);
  std::vector<PathShare> shares;
  const auto add = [&](std::string what, Nanoseconds time) {
    if (time > 0) shares.push_back({std::move(what), time});
  };
  const auto most = std::max_element(parts.compute.begin(), parts.compute.end());
  Nanoseconds others = 0;
  for (auto device = parts.compute.begin(); device != parts.compute.end(); ++device) {
    if (device != most) others += *device;
  }
  if (most != parts.compute.end()) {
    add(compute_on(static_cast<std::int32_t>(most - parts.compute.begin()), run.job.schedule), *most);
  }
  add("compute on the other devices, in turn", others);
  add("ops beyond what their stages cost (stragglers)", parts.straggled);
  add("ops slowed by overlapping collectives", parts.slowed);
  add("transfers: latency", parts.latency);
  add("transfers: bandwidth", parts.bandwidth);
  add("transfers: contention with other traffic", parts.contention);
  add("copies of activations that were moved away (memory limit)", parts.copies);
  add("barriers of the split output layer", parts.barriers);
  for (std::size_t kind = 0; kind < kStepKinds; ++kind) {
    add(with_blanks(to_string(static_cast<StepTask::Kind>(kind))), parts.step[kind]);
  }
  add("waiting for another replica of the pipeline", parts.replicas);
  add("launch gaps", parts.gaps);
  std::stable_sort(shares.begin(), shares.end(),
                   [](const PathShare& a, const PathShare& b) { return a.time > b.time; });
  return shares;
}

}  // namespace debubble
