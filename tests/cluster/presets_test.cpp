// Pipelines on the topologies of the catalog: promises of the timeline, links never beyond what they carry, and what
// each network model may change.
#include "sim/engine/cluster.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/topologies/catalog.hpp"
#include "tests/support/cluster_promises.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/hand_built_cluster.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

struct Preset {
  const char* name = "";
  int pipeline = 1;
  int data = 1;
  int tensor = 1;
};

// Each with as many devices as the job needs, or more.
const std::vector<Preset> kPresets{{"dgx-a100:2", 4, 2, 2},    {"dgx-h100:4", 8, 4, 1},       {"dgx-h200:2", 16, 1, 1},
                                   {"pcie:8", 4, 2, 1},        {"v100-mesh", 8, 1, 1},        {"ring:12", 6, 2, 1},
                                   {"gb200-nvl72:1", 6, 6, 2}, {"fully-connected:8", 4, 2, 1}};

StageCosts costs_of(const Schedule& schedule, Bytes output) {
  StageCosts costs = toy_costs(schedule, 1, 2);
  for (StageCost& stage : costs.stages) stage.output = output;
  return costs;
}

// Of one link: the busiest time cannot have been shorter than what its bytes need.
void check_links(const std::vector<Timeline>& timelines, const Topology& topology) {
  const LinkGraph& graph = topology.network()->graph;
  struct Use {
    double bytes = 0;
    Nanoseconds first = -1;
    Nanoseconds last = 0;
  };
  std::vector<Use> uses(graph.links.size());
  for (std::size_t r = 0; r < timelines.size(); ++r) {
    for (const Transfer& transfer : timelines[r].transfers) {
      const FlowPath path = topology.path(static_cast<int>(r), transfer.from_device, transfer.to_device);
      for (const LinkShare& share : path.links) {
        Use& use = uses[static_cast<std::size_t>(share.link)];
        use.bytes += share.weight * static_cast<double>(transfer.bytes);
        use.first = use.first < 0 ? transfer.begin : std::min(use.first, transfer.begin);
        use.last = std::max(use.last, transfer.end);
      }
    }
  }
  for (std::size_t l = 0; l < uses.size(); ++l) {
    const auto& link = graph.links[l];
    if (uses[l].bytes == 0 || !link.shared || link.bandwidth == 0) continue;
    const double most = static_cast<double>(link.bandwidth) * 1e-9 * static_cast<double>(uses[l].last - uses[l].first);
    REQUIRE_LE(uses[l].bytes, most * (1 + 1e-9) + 1);
  }
}

}  // namespace

TEST_CASE("pipelines on the catalog's topologies keep every promise in every network model and p2p mode") {
  for (const Preset& preset : kPresets) {
    CAPTURE(std::string(preset.name));
    const LinkGraph graph = build_topology(preset.name);
    REQUIRE_GE(graph.device_count(), preset.pipeline * preset.data * preset.tensor);
    const Schedule schedule = build("1f1b", preset.pipeline, 6);
    Variation variation;
    variation.jitter = 0.1;
    for (const Bytes output : {kMebibyte, 256 * kMebibyte}) {
      const StageCosts costs = costs_of(schedule, output);
      for (const P2p p2p : kEveryP2p) {
        const auto lowered = lower(schedule, p2p);
        const auto* program = std::get_if<Program>(&lowered);
        if (program == nullptr) continue;
        const ClusterOptions options{nullptr, &variation, preset.data};
        const auto run = [&](NetworkModel model) {
          const Topology topology = lay(graph, preset.pipeline, preset.data, preset.tensor, model);
          auto timelines = simulate_cluster(*program, schedule, costs, topology, options);
          for (const Timeline& timeline : timelines) REQUIRE_EQ(broken_timeline(timeline), "");
          if (model != NetworkModel::kUncontended) check_links(timelines, topology);
          return timelines;
        };
        const auto alone = run(NetworkModel::kUncontended);
        const auto fluid = run(NetworkModel::kFluid);
        run(NetworkModel::kFifo);
        for (std::size_t r = 0; r < alone.size(); ++r) {
          for (std::size_t k = 0; k < alone[r].spans.size(); ++k) {
            REQUIRE_GE(fluid[r].spans[k].begin, alone[r].spans[k].begin);
          }
        }
      }
    }
  }
}

TEST_CASE("tensor ranks with a card each send beside each other on a FIFO network, with one card after each other") {
  const Schedule schedule = build("1f1b", 2, 1);
  const Program program = std::get<Program>(lower(schedule));
  StageCosts costs = costs_of(schedule, 1'000);
  costs.stages[1].output = 0;
  MachineSizes sizes;
  sizes.machines = 2;
  sizes.gpus = 4;
  sizes.outer = 1'000'000'000;  // a byte per nanosecond
  sizes.outer_latency = 10;
  for (const bool one_card : {false, true}) {
    sizes.one_card = one_card;
    const Topology topology = lay(machines(sizes), 2, 1, 4, NetworkModel::kFifo);
    const Timeline timeline = simulate_cluster(program, schedule, costs, topology, {}).front();
    REQUIRE_EQ(broken_timeline(timeline), "");
    const Transfer& transfer = timeline.transfers.front();
    // Out of a card and into the next; three more messages of 1 000 ns in front of the last where they share it.
    CHECK_EQ(transfer.end - transfer.begin, 2 * (1'000 + 10) + (one_card ? 3 * 1'000 : 0));
    CHECK_EQ(transfer.contention, one_card ? 3'000 : 0);
    CHECK_EQ(topology.transfer(0, 1, 1'000).total(), 2'020);
  }
}

TEST_CASE("a slow link makes exactly the transfers over it slow") {
  LinkGraph graph = line_of(4, 10'000'000'000, 0);
  graph.links[2].bandwidth = 1'000'000'000;  // 1 to 2; links 2k and 2k + 1 join k and k + 1
  const Schedule schedule = build("1f1b", 4, 4);
  const Program program = std::get<Program>(lower(schedule));
  const Timeline timeline = simulate_cluster(program, schedule, costs_of(schedule, 10'000), lay(graph, 4), {}).front();
  for (const Transfer& transfer : timeline.transfers) {
    const bool slow = transfer.from_device == 1 && transfer.to_device == 2;
    CHECK_EQ(transfer.end - transfer.begin, slow ? 10'000 : 1'000);
  }
}
