// Collectives on the catalog's clusters.
#include "cost_models/collectives/nccl_model.hpp"
#include "sim/topologies/catalog.hpp"
#include "tests/support/test.hpp"

using namespace debubble;

namespace {

std::vector<std::int32_t> presets_first_devices(int count) {
  std::vector<std::int32_t> group(static_cast<std::size_t>(count));
  std::iota(group.begin(), group.end(), 0);
  return group;
}

CollectiveModel bandwidth_only(CollectiveAlgorithm algorithm) {
  CollectiveModel model;
  model.algorithm = algorithm;
  return model;
}

// Bytes per second that an algorithm gives each buffer, latencies aside.
double rate(const LinkGraph& graph, int ranks, CollectiveKind kind, CollectiveAlgorithm algorithm) {
  constexpr Bytes kBytes = Bytes{1} << 40;
  const Nanoseconds time =
      plan_collective(graph, {presets_first_devices(ranks)}, kind, kBytes, bandwidth_only(algorithm)).duration;
  return static_cast<double>(kBytes) / static_cast<double>(time) * 1e9;
}

}  // namespace

TEST_CASE("a ring over machines of dgx-h100 uses every network card") {
  const LinkGraph graph = build_topology("dgx-h100:4");
  CHECK(rate(graph, 32, CollectiveKind::kAllReduce, CollectiveAlgorithm::kRing) ==
        doctest::Approx(8 * 48e9 / 2 * 32 / 31).epsilon(0.001));
}

TEST_CASE("rings cross machines on their own rails: nothing passes NVLink twice, with an odd number of them, too") {
  for (const int machines : {2, 3, 4, 5}) {
    CAPTURE(machines);
    const LinkGraph graph = build_topology("dgx-h100:" + std::to_string(machines));
    const int ranks = 8 * machines;
    const double all_cards = 8 * 48e9 / 2 * ranks / (ranks - 1);
    CHECK(rate(graph, ranks, CollectiveKind::kAllReduce, CollectiveAlgorithm::kRing) ==
          doctest::Approx(all_cards).epsilon(0.001));
  }
}

TEST_CASE("H100 and later reduce large buffers in their switches, A100 in a ring") {
  const auto how = [](const char* topology, LinkGeneration generation) {
    const LinkGraph graph = build_topology(topology);
    return plan_collective(graph, {presets_first_devices(8)}, CollectiveKind::kAllReduce, Bytes{1} << 30,
                           nccl_model(generation, 1, CollectiveKind::kAllReduce))
        .algorithm;
  };
  CHECK(how("dgx-h100:2", LinkGeneration::kHopper) == CollectiveAlgorithm::kInNetwork);
  CHECK(how("gb200-nvl72:1", LinkGeneration::kBlackwell) == CollectiveAlgorithm::kInNetwork);
  CHECK(how("dgx-a100:2", LinkGeneration::kAmpere) == CollectiveAlgorithm::kRing);
}

TEST_CASE("NCCL's all-to-all between machines takes the rails, its all-reduce is not hierarchical") {
  const LinkGraph graph = build_topology("dgx-h100:4");
  const auto how = [&](CollectiveKind kind) {
    return plan_collective(graph, {presets_first_devices(32)}, kind, Bytes{1} << 30,
                           nccl_model(LinkGeneration::kHopper, 4, kind))
        .algorithm;
  };
  CHECK(how(CollectiveKind::kAllToAll) == CollectiveAlgorithm::kHierarchical);
  CHECK(how(CollectiveKind::kAllReduce) == CollectiveAlgorithm::kRing);
}

TEST_CASE("a ring topology carries one ring at the full rate of its links") {
  const LinkGraph graph = build_topology("ring:8,bandwidth=50GB/s");
  CHECK(rate(graph, 8, CollectiveKind::kAllGather, CollectiveAlgorithm::kRing) ==
        doctest::Approx(50e9 * 8 / 7).epsilon(0.0001));
  // Everybody to everybody: 8 x (2 (1 + 2 + 3) + 4) links of the way, 16 links; half of the ways of 4 go clockwise
  // only.
  CHECK(rate(graph, 8, CollectiveKind::kAllToAll, CollectiveAlgorithm::kPairwise) < 50e9);
}

TEST_CASE("an oversubscribed core slows down what crosses it, and nothing else") {
  const LinkGraph full = build_topology("dgx-h100:4,pod=2");
  const LinkGraph quarter = build_topology("dgx-h100:4,pod=2,oversubscription=4");
  const auto all_to_all = [](const LinkGraph& graph, const std::vector<std::int32_t>& group) {
    return plan_collective(graph, {group}, CollectiveKind::kAllToAll, Bytes{1} << 34,
                           bandwidth_only(CollectiveAlgorithm::kPairwise))
        .duration;
  };
  CHECK(all_to_all(full, presets_first_devices(16)) == all_to_all(quarter, presets_first_devices(16)));
  CHECK(all_to_all(full, presets_first_devices(32)) < all_to_all(quarter, presets_first_devices(32)));
}

TEST_CASE("every algorithm that fits gives the same plan each time, on every preset") {
  for (const char* topology : {"dgx-a100:2", "dgx-h100:2", "gb200-nvl72:1", "pcie:8", "v100-mesh", "ring:8",
                               "fully-connected:8", "fat-tree:32", "dragonfly", "hxmesh"}) {
    CAPTURE(topology);
    const LinkGraph graph = build_topology(topology);
    for (const CollectiveKind kind :
         {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
          CollectiveKind::kAllToAll, CollectiveKind::kBroadcast}) {
      const CollectivePlan first = plan_collective(graph, {presets_first_devices(8)}, kind, 1 << 20, {});
      const CollectivePlan second = plan_collective(graph, {presets_first_devices(8)}, kind, 1 << 20, {});
      CHECK(first.duration > 0);
      CHECK(first.duration == second.duration);
      CHECK(first.phases.size() == second.phases.size());
      for (std::size_t k = 0; k < first.phases.size(); ++k) CHECK(first.phases[k].path == second.phases[k].path);
    }
  }
}
