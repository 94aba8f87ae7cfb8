#include "sim/analysis/gap_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <utility>

#include "sim/analysis/durations.hpp"
#include "sim/core/at.hpp"

namespace debubble {
namespace {

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

}  // namespace

std::vector<GapPart> split_gap(const JoinedRuns& runs, ReplayGraph& predicted, ReplayGraph* measured, Nanoseconds gap) {
  return GapSplitter(runs, predicted, measured).run(gap);
}

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

}  // namespace debubble
