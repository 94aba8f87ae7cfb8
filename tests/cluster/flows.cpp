#include "tests/cluster/flows.hpp"

#include "sim/core/topology.hpp"
#include "sim/engine/flow_network.hpp"

namespace debubble {

std::vector<Nanoseconds> simulate_flows(const LinkGraph& graph, NetworkModel model,
                                        const std::vector<TimedFlow>& flows) {
  std::vector<Nanoseconds> ends(flows.size());
  std::vector<Nanoseconds> lasts(flows.size());  // alone, without its latency
  EventQueue queue;
  const auto network = make_network(graph, model, queue);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const TimedFlow& timed = flows[f];
    const bool fifo_message = model == NetworkModel::kFifo && !timed.together;
    const TransferTime time = alone(timed.flow, graph, fifo_message ? NetworkModel::kFifo : NetworkModel::kFluid);
    lasts[f] = time.serialisation;
    ends[f] = timed.begin + time.total();
    if (network == nullptr || time.serialisation == 0) continue;
    network->add_route({timed.flow.path},
                       timed.together ? FlowNetwork::Form::kTogether : FlowNetwork::Form::kLinkAfterLink);
  }
  if (network == nullptr) return ends;
  network->prepare();
  std::int32_t routes = 0;
  std::vector<std::int32_t> route_of(flows.size(), -1);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    if (lasts[f] == 0) continue;
    route_of[f] = routes++;
    queue.push({flows[f].begin, {Event::Kind::kFlowBegins, 0, static_cast<std::uint32_t>(f)}});
  }
  while (!queue.empty()) {
    const Nanoseconds now = queue.top().at;
    while (!queue.empty() && queue.top().at == now) {
      const Event event = queue.pop();
      if (event.what.kind() == Event::Kind::kFlowBegins) {
        const FlowOwner owner{FlowUse::kListed, 0, event.what.index()};
        network->begin(route_of[event.what.index()], flows[event.what.index()].flow.bytes, lasts[event.what.index()],
                       owner, now);
        continue;
      }
      const FlowOwner done = network->fire(event.what.index(), now);
      if (done == FlowNetwork::kInFlight) continue;
      ends[done.index()] = now + network->latency_after(route_of[done.index()]);
    }
    network->settle(now);
  }
  return ends;
}

}  // namespace debubble
