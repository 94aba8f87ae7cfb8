// Flows that have a network to themselves: SimGrid's fluid timing, ASTRA-sim's store-and-forward, random ones.
#include "tests/cluster/flows.hpp"

#include "sim/core/topology.hpp"
#include "tests/support/hand_built_cluster.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/reference_cluster.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

TimedFlow over(const LinkGraph& graph, std::int32_t from, std::int32_t to, Bytes bytes, Nanoseconds begin = 0) {
  std::vector<std::int32_t> route;
  graph.router->route(from, to, route);
  TimedFlow made;
  for (const std::int32_t link : route) {
    made.flow.path.links.push_back({link, 1});
    made.flow.path.latency += graph.links[static_cast<std::size_t>(link)].latency;
  }
  made.flow.bytes = bytes;
  made.begin = begin;
  made.together = false;
  return made;
}

constexpr std::int64_t kAstraBandwidth = 50LL << 30;  // ASTRA-sim's GB are 2^30 bytes
constexpr Nanoseconds kAstraLatency = 500;
constexpr Bytes kAstraChunk = 1 << 20;

Nanoseconds fifo(const LinkGraph& graph, std::int32_t from, std::int32_t to) {
  return simulate_flows(graph, NetworkModel::kFifo, {over(graph, from, to, kAstraChunk)}).front();
}

}  // namespace

TEST_CASE("store and forward takes what ASTRA-sim's unit tests say") {
  CHECK_EQ(fifo(all_to_all_of(16, kAstraBandwidth, kAstraLatency), 1, 4), 20'031);
  CHECK_EQ(fifo(switch_of(16, kAstraBandwidth, kAstraLatency), 1, 4), 40'062);
  CHECK_EQ(fifo(ring_of(16, kAstraBandwidth, kAstraLatency), 1, 4), 60'093);
}

TEST_CASE("ASTRA-sim's direct all-gather on a ring of 16 queues for 36 chunks on the busiest link") {
  const LinkGraph ring = ring_of(16, kAstraBandwidth, kAstraLatency);
  std::vector<TimedFlow> flows;
  for (int from = 0; from < 16; ++from) {
    for (int to = 0; to < 16; ++to) {
      if (from != to) flows.push_back(over(ring, from, to, kAstraChunk));
    }
  }
  const auto ends = simulate_flows(ring, NetworkModel::kFifo, flows);
  CHECK_EQ(*std::max_element(ends.begin(), ends.end()), 704'116);
}

TEST_CASE("a message alone on a FIFO network takes what `alone` says") {
  const LinkGraph line = line_of(5, 3'000'000'000, 70);
  const TimedFlow flow = over(line, 0, 4, 1'000);
  const TransferTime time = alone(flow.flow, line, NetworkModel::kFifo);
  CHECK_EQ(time.serialisation, 4 * 333);
  CHECK_EQ(simulate_flows(line, NetworkModel::kFifo, {flow}).front(), time.total());
}

TEST_CASE("a collective on a FIFO network waits for all its links and holds them all") {
  const LinkGraph line = line_of(3, 1'000'000'000, 0);
  TimedFlow collective;
  collective.flow.path.links = {{0, 1}, {2, 1}};
  collective.flow.bytes = 50;
  collective.begin = 10;
  const TimedFlow first = over(line, 1, 2, 100);     // link 2 until 100
  const TimedFlow later = over(line, 0, 1, 30, 20);  // link 0, behind the collective
  CHECK_EQ(simulate_flows(line, NetworkModel::kFifo, {first, collective, later}),
           std::vector<Nanoseconds>{100, 150, 180});
}

TEST_CASE("fluid flows share a link from the moment they meet") {
  const LinkGraph line = line_of(2, 10'000'000'000, 0);  // 10 bytes per nanosecond
  CHECK_EQ(simulate_flows(line, NetworkModel::kFluid, {over(line, 0, 1, 100), over(line, 0, 1, 40, 2)}),
           std::vector<Nanoseconds>{14, 10});
  CHECK_EQ(simulate_flows(line, NetworkModel::kUncontended, {over(line, 0, 1, 100), over(line, 0, 1, 40, 2)}),
           std::vector<Nanoseconds>{10, 6});
}

TEST_CASE("latency comes after the last byte and takes no bandwidth") {
  const LinkGraph line = line_of(2, 10'000'000'000, 1'000);
  CHECK_EQ(simulate_flows(line, NetworkModel::kFluid, {over(line, 0, 1, 100), over(line, 0, 1, 100, 10)}),
           std::vector<Nanoseconds>{1'010, 1'020});
}

TEST_CASE("SimGrid's LV08: bandwidth x 0.97, 5 % of acknowledgements, latency x 13.01") {
  LinkGraph line = line_of(2, 121'250, 130'100'000);  // 1 Mb/s and 10 ms
  TimedFlow flow = over(line, 0, 1, 100'000);
  flow.flow.path.links.front().weight = 1.05;
  CHECK_EQ(simulate_flows(line, NetworkModel::kFluid, {flow}).front(), 996'079'382);
}

TEST_CASE("a flow that leaves the others all they can take changes nothing, to the nanosecond") {
  const LinkGraph line = line_of(3, 1'000'000'007, 13);
  TimedFlow bounded = over(line, 0, 1, 3'331);
  bounded.flow.path.bound = 300'000'000;
  TimedFlow other = over(line, 0, 2, 7'777, 100);
  other.flow.path.bound = 700'000'000;
  for (const NetworkModel model : {NetworkModel::kFluid, NetworkModel::kUncontended}) {
    CHECK_EQ(simulate_flows(line, model, {bounded, other}), std::vector<Nanoseconds>{11'104 + 13, 100 + 11'110 + 26});
  }
}

TEST_CASE("random flows end when the slow reference says, and links carry all that was sent") {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    const int devices = dice.from(2, 6);
    LinkGraph graph = dice.once_in(2) ? ring_of(devices, 1'000'000'000LL * dice.from(1, 20), 0)
                                      : line_of(devices, 1'000'000'000LL * dice.from(1, 20), 0);
    for (debubble::Link& link : graph.links) {
      if (dice.once_in(3)) link.bandwidth = 500'000'000LL * dice.from(1, 20);
      link.shared = !dice.once_in(8);
    }
    std::vector<TimedFlow> timed;
    std::vector<Flow> flows;
    std::vector<Nanoseconds> begins;
    for (int f = dice.from(2, 9); f > 0; --f) {
      const int from = dice.from(0, devices - 1);
      const int to = (from + dice.from(1, devices - 1)) % devices;
      TimedFlow flow = over(graph, from, to, dice.from(1, 20'000), 100 * dice.from(0, 20));
      flow.flow.path.latency = 0;
      if (dice.once_in(4)) flow.flow.path.bound = 200'000'000LL * dice.from(1, 20);
      if (dice.once_in(4)) flow.flow.path.links.front().weight = 0.25 * dice.from(1, 9);
      timed.push_back(flow);
      flows.push_back(flow.flow);
      begins.push_back(flow.begin);
    }
    const auto ends = simulate_flows(graph, NetworkModel::kFluid, timed);
    const auto expected = reference::flow_ends(graph, flows, begins);
    for (std::size_t f = 0; f < ends.size(); ++f) {
      CAPTURE(f);
      REQUIRE_LE(std::abs(ends[f] - expected[f]), 1);
      REQUIRE_GE(ends[f], begins[f] + alone(flows[f], graph, NetworkModel::kFluid).total());
    }
    // No link ever carried more than it can: what ended by then fits into the time since the first began.
    for (std::size_t l = 0; l < graph.links.size(); ++l) {
      if (!graph.links[l].shared) continue;
      double carried = 0;
      Nanoseconds last = 0;
      Nanoseconds first = 1'000'000'000;
      for (std::size_t f = 0; f < ends.size(); ++f) {
        for (const LinkShare& share : flows[f].path.links) {
          if (static_cast<std::size_t>(share.link) != l) continue;
          carried += share.weight * static_cast<double>(flows[f].bytes);
          first = std::min(first, begins[f]);
          last = std::max(last, ends[f]);
        }
      }
      if (carried == 0) continue;
      REQUIRE_LE(carried, static_cast<double>(graph.links[l].bandwidth) * 1e-9 * static_cast<double>(last - first) + 1);
    }
  }
}
