#include "sim/engine/node_ends.hpp"

#include <algorithm>

#include "sim/core/at.hpp"
#include "sim/engine/walk.hpp"

namespace debubble {

namespace {

struct EndRecorder {
  std::vector<Nanoseconds>& ends;

  void cell(std::size_t k, Nanoseconds, Nanoseconds end) { ends[k] = end; }
  void transfer(std::size_t, Nanoseconds, Nanoseconds) {}
};

}  // namespace

bool NodeEnds::knows(const Program& program) {
  return program.p2p == P2p::kOverlapped && program.extra_inputs.empty() && program.copies.empty() &&
         !program.has_features;
}

NodeEnds::NodeEnds(const Program& program, const StageCosts& costs, const Topology& topology)
    : program_(program),
      tables_(make_tables(program, costs, topology)),
      ends_(program.nodes.size()),
      before_(program.nodes.size()) {
  Walk walk(program, tables_, Ends::kInReach);
  EndRecorder recorder{ends_};
  walk.run(recorder);
  std::vector<std::int32_t> last(static_cast<std::size_t>(program.devices), -1);
  for (std::size_t k = 0; k < before_.size(); ++k) {
    std::int32_t& of_lane = at(last, device(k));
    before_[k] = of_lane;
    of_lane = static_cast<std::int32_t>(k);
  }
  const auto latest = std::max_element(ends_.begin(), ends_.end());
  check_device_time(latest == ends_.end() ? 0 : *latest, program.devices);
}

// On a tie the lane counts, as for a SpanRecorder: nothing was lost by waiting for the transfer.
Gate NodeEnds::gate(std::size_t node) const {
  const std::int32_t previous = before_[node];
  const Nanoseconds free = previous < 0 ? 0 : at(ends_, previous);
  const std::int32_t from = maker(node);
  if (from >= 0 && at(ends_, from) + transfer(node).total() > free) {
    return {Gate::Kind::kTransfer, static_cast<std::int32_t>(node)};
  }
  if (previous < 0) return {};
  return {Gate::Kind::kSpan, previous};
}

}  // namespace debubble
