#include "sim/analysis/comparison.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/analysis/durations.hpp"
#include "sim/analysis/joined_runs.hpp"
#include "sim/analysis/replay_graph.hpp"
#include "sim/core/at.hpp"

namespace debubble {
namespace {

// The gap between two runs' makespans, split by successive replays (comparison.hpp).

std::vector<Nanoseconds> durations(const NodeTimes& times) {
  std::vector<Nanoseconds> result(times.begin.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = times.end[i] - times.begin[i];
  return result;
}

// Turns the predicted run into the measured one step by step and blames each step for what the makespan grows by. The
// steps add up to the gap by construction, whatever their order; the order decides who is blamed where causes hide each
// other (comparison.hpp).
class GapSplitter {
 public:
  GapSplitter(const JoinedRuns& runs, ReplayGraph& predicted, ReplayGraph* measured)
      : runs_(runs),
        graph_(&predicted),
        measured_graph_(measured),
        duration_(durations(runs.predicted())),
        gap_(predicted.gaps(runs.predicted())),
        measured_duration_(durations(runs.measured())),
        measured_gap_((measured != nullptr ? *measured : predicted).gaps(runs.measured())),
        makespan_(predicted.makespan(duration_, gap_)) {}

  std::vector<GapPart> run(Nanoseconds gap) {
    put_in_ops();
    put_in_transfers();
    put_in_waits();
    put_in_order();
    put_in_launch_gaps();
    for (const GapPart& part : parts_) gap -= part.gap;
    if (gap != 0) parts_.push_back({.cause = GapCause::kUnexplained, .gap = gap});
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const GapPart& a, const GapPart& b) { return std::abs(a.gap) > std::abs(b.gap); });
    return std::move(parts_);
  }

 private:
  using Group = std::vector<NodeId>;

  // What the makespan grows by with what has just been put in.
  void take(GapPart part, bool differs) {
    if (!differs) return;
    const Nanoseconds now = graph_->makespan(duration_, gap_);
    part.gap = now - makespan_;
    makespan_ = now;
    parts_.push_back(part);
  }

  void put_in_ops() {
    std::map<OpGroup, Group> groups;
    for (NodeId i = 0; i < static_cast<NodeId>(runs_.spans()); ++i)
      groups[op_group(runs_.span(i), runs_.predicted_timeline())].push_back(i);
    for (const auto& [key, group] : groups) {
      const Span& first = runs_.span(group.front());
      GapPart part{.cause = GapCause::kOp, .device = first.device, .op = first.op};
      if (const Op* partner = runs_.predicted_timeline().partner(first)) {
        part.partner = *partner;
        part.paired = true;
      }
      bool differs = false;
      for (const NodeId node : group) {
        const std::size_t i = to_index(node);
        ++part.count;
        part.predicted += duration_[i];
        part.measured += measured_duration_[i];
        differs = differs || duration_[i] != measured_duration_[i];
        duration_[i] = measured_duration_[i];
      }
      take(part, differs);
    }
  }

  std::map<std::pair<std::int32_t, std::int32_t>, Group> links() const {
    std::map<std::pair<std::int32_t, std::int32_t>, Group> links;
    for (auto i = static_cast<NodeId>(runs_.spans()); i < static_cast<NodeId>(runs_.size()); ++i) {
      links[{runs_.transfer(i).from_device, runs_.transfer(i).to_device}].push_back(i);
    }
    return links;
  }

  // Link by link; `measured` gives a node's value of `values` that is put in.
  template <typename Measured>
  void put_in_links(GapCause cause, std::vector<Nanoseconds>& values, Measured measured) {
    for (const auto& [link, group] : links()) {
      GapPart part{.cause = cause, .device = link.first, .to_device = link.second, .op = {}};
      bool differs = false;
      for (const NodeId node : group) {
        const std::size_t i = to_index(node);
        const Nanoseconds value = measured(i);
        ++part.count;
        part.predicted += values[i];
        part.measured += value;
        differs = differs || values[i] != value;
        values[i] = value;
      }
      take(part, differs);
    }
  }

  void put_in_transfers() {
    put_in_links(GapCause::kTransfer, duration_, [&](std::size_t i) { return measured_duration_[i]; });
  }

  void put_in_waits() {
    // Negative: it began before what it waits for had ended. No replay can do that; it is left to kUnexplained.
    put_in_links(GapCause::kWait, gap_, [&](std::size_t i) { return std::max<Nanoseconds>(0, measured_gap_[i]); });
  }

  void put_in_order() {
    if (measured_graph_ == nullptr) return;
    graph_ = measured_graph_;  // from here on ops wait for what they waited for in the measured run
    GapPart part{.cause = GapCause::kOrder};
    const auto& rows = runs_.predicted().rows;
    for (std::size_t d = 0; d < rows.size(); ++d) part.count += rows[d] != runs_.measured().rows[d] ? 1 : 0;
    const Nanoseconds now = graph_->makespan(duration_, gap_);
    if (part.count == 0 && now == makespan_) return;
    take(part, true);
  }

  void put_in_launch_gaps() {
    const auto& rows = runs_.predicted().rows;
    for (std::size_t d = 0; d < rows.size(); ++d) {
      GapPart part{.cause = GapCause::kLaunchGap, .device = static_cast<std::int32_t>(d), .op = {}};
      bool differs = false;
      for (const NodeId node : rows[d]) {
        const std::size_t i = to_index(node);
        const Nanoseconds late = std::max<Nanoseconds>(0, measured_gap_[i]);
        part.count += late > 0 ? 1 : 0;
        part.predicted += gap_[i];
        part.measured += late;
        differs = differs || gap_[i] != late;
        gap_[i] = late;
      }
      take(part, differs);
    }
  }

  const JoinedRuns& runs_;
  ReplayGraph* graph_;
  ReplayGraph* measured_graph_;
  std::vector<Nanoseconds> duration_;  // as put in so far
  std::vector<Nanoseconds> gap_;
  std::vector<Nanoseconds> measured_duration_;
  std::vector<Nanoseconds> measured_gap_;
  Nanoseconds makespan_;
  std::vector<GapPart> parts_;
};

// The earliest op that ran in another's place.
std::optional<Divergence> find_swap(const JoinedRuns& runs) {
  std::optional<Divergence> first;
  for (std::size_t d = 0; d < runs.predicted().rows.size(); ++d) {
    const auto& wanted = runs.predicted().rows[d];
    const auto& ran = runs.measured().rows[d];
    const auto [due, other] = std::mismatch(wanted.begin(), wanted.end(), ran.begin(), ran.end());
    if (due == wanted.end() || other == ran.end()) continue;
    const Nanoseconds begin = at(runs.measured().begin, *other);
    if (first && first->measured_begin <= begin) continue;
    Divergence swap{.kind = Divergence::Kind::kOrder, .device = static_cast<std::int32_t>(d)};
    swap.op = runs.span(*other).op;
    swap.expected = runs.span(*due).op;
    swap.predicted_begin = at(runs.predicted().begin, *other);
    swap.measured_begin = begin;
    first = swap;
  }
  return first;
}

Divergence late_node(const JoinedRuns& runs, NodeId node, Nanoseconds late, Nanoseconds waited) {
  Divergence found;
  found.late = late;
  found.predicted_begin = at(runs.predicted().begin, node);
  found.measured_begin = at(runs.measured().begin, node);
  if (runs.is_span(node)) {
    found.kind = waited > late - waited ? Divergence::Kind::kLaunchGap : Divergence::Kind::kOp;
    found.device = runs.span(node).device;
    found.op = runs.span(node).op;
  } else {
    found.kind = Divergence::Kind::kTransfer;
    found.device = runs.transfer(node).from_device;
    found.to_device = runs.transfer(node).to_device;
    found.op = runs.transfer(node).op;
  }
  return found;
}

// `measured` may be null: then the order is not put in and its part is unexplained. The parts add up to `gap`.
std::vector<GapPart> split_gap(const JoinedRuns& runs, ReplayGraph& predicted, ReplayGraph* measured, Nanoseconds gap) {
  return GapSplitter(runs, predicted, measured).run(gap);
}

// The first by measured begin: an op in another's place, or before that one a thing that is late of its own by more
// than `tolerance`.
std::optional<Divergence> find_divergence(const JoinedRuns& runs, const ReplayGraph& predicted, Nanoseconds tolerance) {
  const std::optional<Divergence> swap = find_swap(runs);
  const NodeTimes& p = runs.predicted();
  const NodeTimes& m = runs.measured();
  NodeId first = -1;
  // Once something is late, all that depends on it is. So a node counts by what it added itself: from the moment at
  // which all that it waits for was there to its end, compared with the same in the prediction.
  for (NodeId node = 0; node < static_cast<NodeId>(runs.size()); ++node) {
    const std::size_t i = to_index(node);
    const Nanoseconds own = (m.end[i] - predicted.ready(node, m.end)) - (p.end[i] - predicted.ready(node, p.end));
    if (swap && m.begin[i] >= swap->measured_begin) continue;
    if (own > tolerance && (first < 0 || m.begin[i] < at(m.begin, first))) first = node;
  }
  if (first < 0) return swap;
  const std::size_t i = to_index(first);
  const Nanoseconds waited =
      (m.begin[i] - predicted.ready(first, m.end)) - (p.begin[i] - predicted.ready(first, p.end));
  const Nanoseconds late = waited + (m.end[i] - m.begin[i]) - (p.end[i] - p.begin[i]);
  return late_node(runs, first, late, waited);
}

template <typename Get>
auto figure(const TimedRun& predicted, std::span<const TimedRun> measured, std::size_t chosen, Get get) {
  std::vector<decltype(get(*predicted.report))> values;
  for (const TimedRun& one : measured) values.push_back(get(*one.report));
  const auto own = values[chosen];
  return make_figure(get(*predicted.report), own, values);
}

Nanoseconds tenth_of_mean_op(const Timeline& timeline) {
  Nanoseconds sum = 0;
  for (const Span& span : timeline.spans) sum += span.end - span.begin;
  return timeline.spans.empty() ? 0 : sum / static_cast<Nanoseconds>(timeline.spans.size()) / 10;
}

void add_figures(Comparison& result, const TimedRun& predicted, std::span<const TimedRun> measured,
                 std::size_t chosen) {
  const auto of = [&](auto get) { return figure(predicted, measured, chosen, get); };
  result.makespan = of([](const Report& r) { return r.makespan; });
  result.bubble_ratio = of([](const Report& r) { return r.bubble_ratio; });
  result.bubble_over_ideal = of([](const Report& r) { return r.bubble_over_ideal; });
  for (std::size_t d = 0; d < predicted.report->devices.size(); ++d) {
    DeviceFigures device;
    device.busy = of([d](const Report& r) { return r.devices[d].busy; });
    device.bubble_ratio = of([d](const Report& r) { return r.devices[d].bubble_ratio; });
    device.peak_memory = of([d](const Report& r) { return r.devices[d].peak_memory; });
    device.peak_activation = of([d](const Report& r) { return r.devices[d].peak_activation; });
    result.devices.push_back(device);
  }
  std::vector<const Timeline*> timelines;
  for (const TimedRun& one : measured) timelines.push_back(one.timeline);
  result.ops_by_stage = op_durations(*predicted.timeline, timelines, chosen);
  result.links = link_durations(*predicted.timeline, timelines, chosen);
}

}  // namespace

const char* to_string(GapCause cause) {
  return at(std::array{"op", "transfer", "wait", "order", "launch_gap", "unexplained"}, cause);
}

Comparison compare(const Schedule& schedule, P2p p2p, const TimedRun& predicted, std::span<const TimedRun> measured,
                   std::size_t chosen, Nanoseconds residual) {
  const Timeline& other = *measured[chosen].timeline;
  if (predicted.timeline->devices != schedule.devices || other.devices != schedule.devices) {
    throw std::logic_error("compare: not runs of the schedule");
  }
  const JoinedRuns runs(schedule, *predicted.timeline, other);
  std::optional<ReplayGraph> before = ReplayGraph::build(runs, runs.predicted(), p2p);
  std::optional<ReplayGraph> after = ReplayGraph::build(runs, runs.measured(), p2p);
  if (!before) throw std::logic_error("compare: the predicted run waits for itself");
  Comparison result;
  add_figures(result, predicted, measured, chosen);
  for (const Span& span : predicted.timeline->spans) {
    result.ops += predicted.timeline->partner(span) != nullptr ? 2 : 1;
  }
  result.transfers = static_cast<std::int64_t>(predicted.timeline->transfers.size());
  result.transfers_matched = runs.transfers_matched();
  result.parts = split_gap(runs, *before, after ? &*after : nullptr, result.makespan.gap());
  for (const GapPart& part : result.parts) at(result.gap_by_cause, part.cause) += part.gap;
  result.tolerance = std::max(residual, tenth_of_mean_op(*predicted.timeline));
  result.first_divergence = find_divergence(runs, *before, result.tolerance);
  return result;
}

}  // namespace debubble
