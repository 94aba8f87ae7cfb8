#include "sim/analysis/replay_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/rows/joined_exchanges.hpp"
#include "sim/rows/posted_receives.hpp"

namespace debubble {

class ReplayGraph::Builder {
 public:
  Builder(const JoinedRuns& runs, const NodeTimes& times, P2p p2p)
      : runs_(runs), times_(times), p2p_(p2p), before_(runs.size(), -1), after_(runs.size(), -1) {
    for (const auto& row : times_.rows) {
      for (std::size_t k = 1; k < row.size(); ++k) {
        at(before_, row[k]) = row[k - 1];
        at(after_, row[k - 1]) = row[k];
      }
    }
  }

  std::optional<ReplayGraph> run() {
    add_waits();
    ReplayGraph graph;
    if (!sort(graph.order_)) return std::nullopt;
    if (chains_transfers()) add_lanes(graph.order_);
    std::sort(edges_.begin(), edges_.end());
    graph.wait_begin_.assign(runs_.size() + 1, 0);
    for (const auto& [node, wait] : edges_) {
      ++graph.wait_begin_[to_index(node) + 1];
      graph.waits_.push_back(wait);
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) graph.wait_begin_[i + 1] += graph.wait_begin_[i];
    graph.end_.resize(runs_.size());
    return graph;
  }

 private:
  void wait(NodeId node, NodeId for_node) {
    if (node >= 0 && for_node >= 0) edges_.emplace_back(node, for_node);
  }

  void add_waits() {
    for (std::size_t i = 0; i < runs_.spans(); ++i) wait(static_cast<NodeId>(i), before_[i]);
    for (auto i = static_cast<NodeId>(runs_.spans()); i < static_cast<NodeId>(runs_.size()); ++i) {
      const Transfer& transfer = runs_.transfer(i);
      wait(i, transfer.from_span);
      wait(transfer.to_span, i);
      if (chains_transfers() && transfer.from_span >= 0 && transfer.to_span >= 0) {
        wait(at(after_, transfer.from_span), i);
      }
    }
    if (p2p_ == P2p::kCoupled) add_exchanges();
    if (p2p_ == P2p::kLate || p2p_ == P2p::kJoined) add_posted();
  }

  [[nodiscard]] bool chains_transfers() const { return p2p_ == P2p::kBlocking || p2p_ == P2p::kRendezvous; }

  // Where the run's rows have another order than the schedule's, a wait for what ran later is none.
  void add_posted() {
    const SpanPosting posting = span_posting(OpIndex(runs_.schedule()), p2p_, runs_.predicted_timeline());
    const auto transfers = static_cast<NodeId>(runs_.spans());
    std::vector<std::size_t> place(runs_.spans(), 0);
    for (const auto& row : times_.rows) {
      for (std::size_t k = 0; k < row.size(); ++k) at(place, row[k]) = k;
    }
    const auto precedes = [&](NodeId one, NodeId other) {
      return one >= 0 && other >= 0 &&
             (runs_.span(one).device != runs_.span(other).device || at(place, one) < at(place, other));
    };
    for (std::size_t k = 0; k < posting.in_front.size(); ++k) {
      const NodeId transfer = transfers + static_cast<NodeId>(k);
      if (precedes(posting.in_front[k], runs_.transfer(transfer).to_span)) wait(transfer, posting.in_front[k]);
    }
    for (const auto& [span, transfer] : posting.awaited) {
      if (precedes(runs_.transfer(transfers + transfer).from_span, span)) wait(span, transfers + transfer);
    }
  }

  void add_exchanges() {
    const SpanSlots slots = slots_of_spans(runs_.schedule(), runs_.predicted_timeline(), times_.rows);
    std::map<NodeId, std::vector<NodeId>> exchange;  // by the span after it: its transfers
    std::vector<std::pair<NodeId, NodeId>> apart;    // a transfer that waits for them, and that span
    for (auto i = static_cast<NodeId>(runs_.spans()); i < static_cast<NodeId>(runs_.size()); ++i) {
      const Transfer& transfer = runs_.transfer(i);
      if (transfer.from_span < 0 || transfer.to_span < 0) continue;
      const NodeId last = at(slots.last, transfer.from_span);
      const NodeId user = at(slots.received, transfer.to_span);
      if (last != transfer.from_span) wait(i, last);
      if (user != transfer.to_span) wait(user, i);
      wait(at(after_, last), i);
      wait(i, at(before_, user));
      if (slots.apart[static_cast<std::size_t>(transfer.to_span)]) apart.emplace_back(i, user);
      exchange[user].push_back(i);
      if (at(after_, last) >= 0) exchange[at(after_, last)].push_back(i);
    }
    for (const auto& [transfer, user] : apart) {
      for (const NodeId other : exchange[user]) {
        if (other != transfer) wait(transfer, other);
      }
    }
  }

  // In order of begin, as far as the waits allow, so that the order among transfers is the one in which they took
  // place.
  bool sort(std::vector<NodeId>& order) const {
    std::vector<std::vector<NodeId>> users(runs_.size());
    std::vector<std::int32_t> open(runs_.size(), 0);
    for (const auto& [node, wait] : edges_) {
      at(users, wait).push_back(node);
      ++at(open, node);
    }
    using Entry = std::tuple<Nanoseconds, Nanoseconds, bool, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    const auto push = [&](NodeId node) {
      ready.emplace(at(times_.begin, node), at(times_.end, node), runs_.is_span(node), node);
    };
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i] == 0) push(static_cast<NodeId>(i));
    }
    while (!ready.empty()) {
      const NodeId node = std::get<NodeId>(ready.top());
      ready.pop();
      order.push_back(node);
      for (const NodeId user : at(users, node)) {
        if (--at(open, user) == 0) push(user);
      }
    }
    return order.size() == runs_.size();
  }

  // Every device's chain of spans and transfers, all taken from one order, so they cannot contradict each other.
  void add_lanes(const std::vector<NodeId>& order) {
    std::vector<NodeId> last(static_cast<std::size_t>(runs_.devices()), -1);
    const auto chain = [&](NodeId node, std::int32_t device) {
      wait(node, at(last, device));
      at(last, device) = node;
    };
    for (const NodeId node : order) {
      if (runs_.is_span(node)) {
        chain(node, runs_.span(node).device);
        continue;
      }
      chain(node, runs_.transfer(node).from_device);
      if (runs_.transfer(node).to_device != runs_.transfer(node).from_device) {
        chain(node, runs_.transfer(node).to_device);
      }
    }
  }

  const JoinedRuns& runs_;
  const NodeTimes& times_;
  P2p p2p_;
  std::vector<NodeId> before_;  // by span: the one before it on its device, -1: none
  std::vector<NodeId> after_;
  std::vector<std::pair<NodeId, NodeId>> edges_;  // node, what it waits for
};

std::optional<ReplayGraph> ReplayGraph::build(const JoinedRuns& runs, const NodeTimes& times, P2p p2p) {
  return Builder(runs, times, p2p).run();
}

Nanoseconds ReplayGraph::ready(NodeId node, const std::vector<Nanoseconds>& end) const {
  Nanoseconds latest = 0;
  for (std::int32_t k = at(wait_begin_, node); k < wait_begin_[to_index(node) + 1]; ++k) {
    latest = std::max(latest, at(end, at(waits_, k)));
  }
  return latest;
}

std::vector<Nanoseconds> ReplayGraph::gaps(const NodeTimes& times) const {
  std::vector<Nanoseconds> gaps(times.begin.size());
  for (const NodeId node : order_) at(gaps, node) = at(times.begin, node) - ready(node, times.end);
  return gaps;
}

Nanoseconds ReplayGraph::makespan(const std::vector<Nanoseconds>& duration, const std::vector<Nanoseconds>& gap) {
  Nanoseconds latest = 0;
  for (const NodeId node : order_) {
    at(end_, node) = ready(node, end_) + at(gap, node) + at(duration, node);
    latest = std::max(latest, at(end_, node));
  }
  return latest;
}

}  // namespace debubble
