#include "sim/engine/flows.hpp"

#include "sim/core/at.hpp"
#include "sim/core/topology.hpp"
#include "sim/engine/flow_network.hpp"

namespace debubble {

std::vector<Nanoseconds> simulate_flows(const LinkGraph& graph, NetworkModel model,
                                        const std::vector<TimedFlow>& flows) {
  constexpr std::uint64_t kNetwork = std::uint64_t{1} << 62;  // events below: a flow begins
  std::vector<Nanoseconds> ends(flows.size());
  std::vector<Nanoseconds> lasts(flows.size());  // alone, without its latency
  EventQueue queue;
  const auto network = make_network(graph, model, queue, kNetwork);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const TimedFlow& timed = flows[f];
    const bool fifo_message = model == NetworkModel::kFifo && !timed.together;
    const TransferTime time = alone(timed.flow, graph, fifo_message ? NetworkModel::kFifo : NetworkModel::kFluid);
    lasts[f] = time.serialisation;
    ends[f] = timed.begin + time.total();
    if (network == nullptr || time.serialisation == 0) continue;
    network->add_way({timed.flow.path},
                     timed.together ? FlowNetwork::Form::kTogether : FlowNetwork::Form::kLinkAfterLink);
  }
  if (network == nullptr) return ends;
  network->prepare();
  std::int32_t way = 0;
  std::vector<std::int32_t> way_of(flows.size(), -1);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    if (lasts[f] == 0) continue;
    way_of[f] = way++;
    queue.push({flows[f].begin, f});
  }
  while (!queue.empty()) {
    const Nanoseconds now = queue.top().at;
    while (!queue.empty() && queue.top().at == now) {
      const std::uint64_t what = queue.pop().what;
      if (what < kNetwork) {
        network->begin(way_of[what], flows[what].flow.bytes, lasts[what], static_cast<std::int64_t>(what), now);
        continue;
      }
      const std::int64_t done = network->fire(what - kNetwork, now);
      if (done == FlowNetwork::kUnderWay) continue;
      at(ends, done) = now + network->latency_after(at(way_of, done));
    }
    network->settle(now);
  }
  return ends;
}

}  // namespace debubble
