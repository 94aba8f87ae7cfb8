#include "studies/planners/antichains.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "sim/core/at.hpp"
#include "studies/planners/params.hpp"

namespace debubble {

namespace {

using NodeSet = std::vector<bool>;           // by node
using Antichain = std::vector<std::size_t>;  // nodes, ascending
constexpr std::size_t kMostStates = 2000;

// The graph less its inputs and unused sinks, with everything that is reachable from and to each node.
class PlannedGraph {
 public:
  explicit PlannedGraph(const PipedreamGraph& graph) : graph_(graph), used_(graph.nodes.size(), true) {
    const std::size_t count = graph.nodes.size();
    for (std::size_t node = 0; node < count; ++node) {
      if (graph.nodes[node].is_input()) used_[node] = false;
    }
    for (std::size_t node = 0; node < count; ++node) {
      if (used_[node] && graph.nodes[node].successors.empty() &&
          graph.nodes[node].description.starts_with("__getitem__")) {
        used_[node] = false;
      }
    }
    link();
    close();
  }

  [[nodiscard]] const std::vector<std::size_t>& after(std::size_t node) const { return after_[node]; }
  [[nodiscard]] bool precedes(std::size_t one, std::size_t other) const { return before_[other][one]; }
  [[nodiscard]] const NodeSet& all_before(std::size_t node) const { return before_[node]; }
  [[nodiscard]] std::size_t size() const { return graph_.nodes.size(); }
  [[nodiscard]] const PipedreamNode& node(std::size_t index) const { return graph_.nodes[index]; }

  // The first source in the file's numbering, where the walk begins.
  [[nodiscard]] std::size_t first_source() const {
    for (std::size_t node = 0; node < size(); ++node) {
      if (used_[node] && std::find(before_[node].begin(), before_[node].end(), true) == before_[node].end())
        return node;
    }
    not_for_planner("pipedream", "the graph has no nodes but inputs", "give a graph with layers");
  }

 private:
  void link() {
    after_.resize(size());
    for (std::size_t node = 0; node < size(); ++node) {
      if (!used_[node]) continue;
      for (const std::size_t next : graph_.nodes[node].successors) {
        if (used_[next]) after_[node].push_back(next);
      }
    }
  }

  // before_ in an order in which predecessors come first.
  void close() {
    std::vector<int> waiting(size(), 0);
    for (const auto& all : after_) {
      for (const std::size_t next : all) ++waiting[next];
    }
    std::deque<std::size_t> ready;
    for (std::size_t node = 0; node < size(); ++node) {
      if (waiting[node] == 0) ready.push_back(node);
    }
    before_.assign(size(), NodeSet(size(), false));
    std::size_t done = 0;
    for (; !ready.empty(); ++done) {
      const std::size_t node = ready.front();
      ready.pop_front();
      for (const std::size_t next : after_[node]) {
        before_[next][node] = true;
        for (std::size_t earlier = 0; earlier < size(); ++earlier) {
          if (before_[node][earlier]) before_[next][earlier] = true;
        }
        if (--waiting[next] == 0) ready.push_back(next);
      }
    }
    if (done < size()) not_for_planner("pipedream", "the graph has a cycle", "give a graph without cycles");
  }

  const PipedreamGraph& graph_;
  NodeSet used_;
  std::vector<std::vector<std::size_t>> after_;
  std::vector<NodeSet> before_;
};

class AntichainWalk {
 public:
  AntichainWalk(const PlannedGraph& graph, bool as_published) : graph_(graph), as_published_(as_published) {
    add({graph.first_source()});
    for (std::size_t state = 0; state < states_.size(); ++state) extend(state);
  }

  [[nodiscard]] PlannerJob job() const {
    const std::vector<std::size_t> order = topological();
    PlannerJob job;
    PlannerLayer before;                                                             // the sums up to the last state
    std::vector<NodeSet> preceding(states_.size(), NodeSet(states_.size(), false));  // by state, states
    std::vector<std::size_t> place(states_.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    for (const std::size_t state : order) {
      const PlannerLayer sum = sum_up_to(state);
      PlannerLayer layer = sum;
      layer.forward -= before.forward;
      layer.backward -= before.backward;
      layer.activation -= before.activation;
      layer.parameters -= before.parameters;
      before = sum;
      job.layers.push_back(std::move(layer));
      job.cuts_before.push_back(cuts_of(preceding[state], place));
      for (const std::size_t next : next_[state]) {
        preceding[next][state] = true;
        for (std::size_t i = 0; i < states_.size(); ++i) {
          if (preceding[state][i]) preceding[next][i] = true;
        }
      }
    }
    return job;
  }

 private:
  // The antichain and, as the original has it, every node before one of its nodes that some other node needs beside
  // that one: also where the other is in the antichain itself.
  [[nodiscard]] Antichain augmented(const Antichain& antichain) const {
    return with_needed(antichain, [&](std::size_t before, std::size_t next) {
      return std::any_of(antichain.begin(), antichain.end(), [&](std::size_t node) {
        return next != node && graph_.precedes(before, node) && !graph_.precedes(next, node);
      });
    });
  }
  // The antichain and every node before it whose output a node behind it needs.
  [[nodiscard]] Antichain crossing(const Antichain& antichain) const {
    const NodeSet inside = up_to(antichain);
    return with_needed(antichain,
                       [&](std::size_t before, std::size_t next) { return inside[before] && !inside[next]; });
  }

  template <typename Needed>
  [[nodiscard]] Antichain with_needed(const Antichain& antichain, const Needed& needed) const {
    Antichain all = antichain;
    for (std::size_t node = 0; node < graph_.size(); ++node) {
      if (std::find(antichain.begin(), antichain.end(), node) != antichain.end()) continue;
      const auto& after = graph_.after(node);
      if (std::any_of(after.begin(), after.end(), [&](std::size_t next) { return needed(node, next); })) {
        all.push_back(node);
      }
    }
    return all;
  }

  // Everything that the antichain stands for.
  [[nodiscard]] NodeSet up_to(const Antichain& antichain) const {
    NodeSet inside(graph_.size(), false);
    for (const std::size_t node : antichain) {
      inside[node] = true;
      for (std::size_t i = 0; i < graph_.size(); ++i) {
        if (graph_.all_before(node)[i]) inside[i] = true;
      }
    }
    return inside;
  }

  [[nodiscard]] Antichain reduced(Antichain nodes) const {
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    Antichain kept;
    for (const std::size_t node : nodes) {
      if (std::none_of(nodes.begin(), nodes.end(), [&](std::size_t other) { return graph_.precedes(node, other); })) {
        kept.push_back(node);
      }
    }
    return kept;
  }

  void extend(std::size_t state) {
    const Antichain here = states_[state];
    const Antichain all = augmented(here);
    for (const std::size_t node : all) {
      for (const std::size_t next : graph_.after(node)) {
        if (std::find(here.begin(), here.end(), next) != here.end()) continue;
        if (std::any_of(all.begin(), all.end(), [&](std::size_t other) { return graph_.precedes(next, other); }))
          continue;
        Antichain changed = all;
        std::replace(changed.begin(), changed.end(), node, next);
        const std::size_t target = add(reduced(std::move(changed)));
        auto& edges = next_[state];
        if (std::find(edges.begin(), edges.end(), target) == edges.end()) edges.push_back(target);
      }
    }
  }

  std::size_t add(Antichain antichain) {
    const auto [found, fresh] = numbers_.emplace(std::move(antichain), states_.size());
    if (!fresh) return found->second;
    if (states_.size() == kMostStates) {
      not_for_planner("pipedream",
                      "the graph has more than " + std::to_string(kMostStates) + " antichains: too many to plan over",
                      "make a chain of layers of it: traces/graphs/to_profile.py");
    }
    states_.push_back(found->first);
    next_.emplace_back();
    return found->second;
  }

  [[nodiscard]] PlannerLayer sum_up_to(std::size_t state) const {
    PlannerLayer sum;
    const NodeSet inside = up_to(states_[state]);
    for (const std::size_t node : states_[state]) {
      sum.name += (sum.name.empty() ? "" : "+") + graph_.node(node).name();
    }
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (!inside[i]) continue;
      sum.forward += graph_.node(i).forward;
      sum.backward += graph_.node(i).backward;
      sum.activation += graph_.node(i).activation;
      sum.parameters += graph_.node(i).parameters;
    }
    const Antichain& state_nodes = states_[state];
    for (const std::size_t node : as_published_ ? augmented(state_nodes) : crossing(state_nodes)) {
      sum.output += graph_.node(node).activation;
    }
    return sum;
  }

  static std::vector<int> cuts_of(const NodeSet& preceding, const std::vector<std::size_t>& place) {
    std::vector<int> cuts;
    for (std::size_t i = 0; i < preceding.size(); ++i) {
      if (preceding[i]) cuts.push_back(static_cast<int>(place[i]));
    }
    std::sort(cuts.begin(), cuts.end());
    return cuts;
  }

  // The first found first among those that are ready.
  [[nodiscard]] std::vector<std::size_t> topological() const {
    std::vector<int> waiting(states_.size(), 0);
    for (const auto& all : next_) {
      for (const std::size_t next : all) ++waiting[next];
    }
    std::vector<std::size_t> order;
    std::vector<bool> placed(states_.size(), false);
    while (order.size() < states_.size()) {
      for (std::size_t state = 0; state < states_.size(); ++state) {
        if (placed[state] || waiting[state] > 0) continue;
        placed[state] = true;
        order.push_back(state);
        for (const std::size_t next : next_[state]) --waiting[next];
        break;
      }
    }
    return order;
  }

  const PlannedGraph& graph_;
  bool as_published_;
  std::vector<Antichain> states_;
  std::vector<std::vector<std::size_t>> next_;
  std::map<Antichain, std::size_t> numbers_;
};

}  // namespace

bool PipedreamNode::is_input() const {
  constexpr std::string_view kInput = "Input";
  const std::string_view text = description;
  return text.starts_with(kInput) && text.find_first_not_of("0123456789", kInput.size()) == std::string_view::npos;
}

PlannerJob pipedream_states(const PipedreamGraph& graph, bool as_published) {
  const PlannedGraph planned(graph);
  return AntichainWalk(planned, as_published).job();
}

}  // namespace debubble
