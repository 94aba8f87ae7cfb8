// Two timelines of one schedule, joined op by op. Internal to sim/analysis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// A node is a span or a transfer of the predicted timeline: spans first, each with its number there.
using NodeId = std::int32_t;

// One run's times by node, and the spans in the order in which each device ran them.
struct NodeTimes {
  std::vector<Nanoseconds> begin;
  std::vector<Nanoseconds> end;
  std::vector<std::vector<NodeId>> rows;
};

class JoinedRuns {
 public:
  // The schedule and the timelines must outlive it. Throws InputError D010 with every op that has no match.
  JoinedRuns(const Schedule& schedule, const Timeline& predicted, const Timeline& measured);

  [[nodiscard]] std::size_t size() const { return predicted_.begin.size(); }
  [[nodiscard]] std::size_t spans() const { return timeline_->spans.size(); }
  [[nodiscard]] const Schedule& schedule() const { return *schedule_; }
  [[nodiscard]] const Timeline& predicted_timeline() const { return *timeline_; }
  [[nodiscard]] int devices() const { return timeline_->devices; }
  [[nodiscard]] const NodeTimes& predicted() const { return predicted_; }
  [[nodiscard]] const NodeTimes& measured() const { return measured_; }
  [[nodiscard]] std::int64_t transfers_matched() const { return transfers_matched_; }

  [[nodiscard]] bool is_span(NodeId node) const { return static_cast<std::size_t>(node) < spans(); }
  [[nodiscard]] const Span& span(NodeId node) const { return at(timeline_->spans, node); }
  [[nodiscard]] const Transfer& transfer(NodeId node) const {
    return timeline_->transfers[static_cast<std::size_t>(node) - spans()];
  }

 private:
  void join_spans(const Schedule& schedule, const Timeline& measured);
  void join_transfers(const Schedule& schedule, const Timeline& measured);

  const Schedule* schedule_;
  const Timeline* timeline_;
  NodeTimes predicted_;
  NodeTimes measured_;
  std::int64_t transfers_matched_ = 0;
};

}  // namespace debubble
