// Ranks on devices, in any order of the dimensions; and the flows of transfers between them.
#include "sim/core/rank_layout.hpp"

#include "sim/core/topology.hpp"
#include "sim/topologies/catalog.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

RankLayout layout_of(int tensor, int context, int data, int pipeline) {
  RankLayout layout;
  layout.sizes.tensor = tensor;
  layout.sizes.context = context;
  layout.sizes.data = data;
  layout.sizes.pipeline = pipeline;
  return layout;
}

TEST_CASE("Megatron's order puts tensor ranks side by side and stages far apart") {
  const RankLayout layout = layout_of(2, 2, 3, 4);
  CHECK(layout.device(1, 0, 0, 0) == 1);
  CHECK(layout.device(0, 1, 0, 0) == 2);
  CHECK(layout.device(0, 0, 1, 0) == 4);
  CHECK(layout.device(0, 0, 0, 1) == 12);
  CHECK(layout.device(1, 1, 2, 3) == 47);
  CHECK(layout.group(Dimension::kTensor, 0, 1, 2, 3) == std::vector<std::int32_t>{46, 47});
  CHECK(layout.group(Dimension::kData, 1, 0, 0, 0) == std::vector<std::int32_t>{1, 5, 9});
  CHECK(layout.group(Dimension::kPipeline, 0, 0, 0, 0) == std::vector<std::int32_t>{0, 12, 24, 36});
}

TEST_CASE("each order places every rank once") {
  std::vector<Dimension> order{Dimension::kTensor, Dimension::kContext, Dimension::kData, Dimension::kPipeline};
  std::sort(order.begin(), order.end());
  int orders = 0;
  do {
    RankLayout layout = layout_of(2, 3, 4, 5);
    layout.order = order;
    std::set<std::int32_t> seen;
    for (int t = 0; t < 2; ++t) {
      for (int c = 0; c < 3; ++c) {
        for (int d = 0; d < 4; ++d) {
          for (int p = 0; p < 5; ++p) seen.insert(layout.device(t, c, d, p));
        }
      }
    }
    CHECK(seen.size() == 120);
    CHECK(*seen.begin() == 0);
    CHECK(*seen.rbegin() == 119);
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(orders == 24);
}

TEST_CASE("experts are split over consecutive data ranks, context ranks first") {
  RankLayout layout = layout_of(1, 2, 4, 1);
  layout.sizes.expert = 4;
  // Of 8 (context, data) ranks two groups of 4: data ranks 0, 1 and 2, 3, with both context ranks each.
  CHECK(layout.group(Dimension::kExpert, 0, 0, 0, 0) == std::vector<std::int32_t>{0, 1, 2, 3});
  CHECK(layout.group(Dimension::kExpert, 0, 1, 2, 0) == std::vector<std::int32_t>{4, 5, 6, 7});
}

TEST_CASE("ranks that split an expert are dealt anew over a stage's ranks, neighbours first") {
  RankLayout layout = layout_of(2, 1, 4, 1);
  layout.sizes.expert = 4;
  layout.sizes.expert_tensor = 1;
  CHECK(layout.group(Dimension::kExpert, 1, 0, 1, 0) == std::vector<std::int32_t>{0, 1, 2, 3});
  CHECK(layout.group(Dimension::kExpert, 0, 0, 2, 0) == std::vector<std::int32_t>{4, 5, 6, 7});
  CHECK(layout.sizes.expert_copies() == 2);
  layout.sizes.expert = 2;
  layout.sizes.expert_tensor = 4;  // more than tensor ranks
  CHECK(layout.group(Dimension::kExpertTensor, 1, 0, 2, 0) == std::vector<std::int32_t>{4, 5, 6, 7});
  CHECK(layout.group(Dimension::kExpert, 1, 0, 0, 0) == std::vector<std::int32_t>{1, 5});
  CHECK(layout.sizes.expert_copies() == 1);
  layout.sizes.expert_tensor = 0;  // as the tensor ranks
  CHECK(layout.group(Dimension::kExpert, 1, 0, 0, 0) == std::vector<std::int32_t>{1, 3});
  CHECK(layout.sizes.expert_copies() == 2);
}

TEST_CASE("explicit devices replace the ranks' own numbers") {
  RankLayout layout = layout_of(2, 1, 1, 2);
  layout.devices = {8, 9, 16, 17};
  CHECK(layout.device(0, 0, 0, 1) == 16);
  CHECK(layout.group(Dimension::kPipeline, 1, 0, 0, 0) == std::vector<std::int32_t>{9, 17});
}

TEST_CASE("each tensor rank sends to its counterpart, over its own card") {
  auto network = std::make_shared<Network>();
  network->graph = build_topology("dgx-h100:2");
  network->layout = layout_of(8, 1, 1, 2);
  const Topology topology = Topology::over(network);
  const FlowPath path = topology.path(0, 0, 1);
  CHECK(path.links.size() == 8 * 4);
  for (const LinkShare& share : path.links) CHECK(share.weight == 1);
  CHECK(path.latency == 4 * 500);
  // 48 GB/s per rank: 48 MB in 1 ms.
  CHECK(topology.transfer(0, 1, 48'000'000).total() == 1'000'000 + 2000);
  CHECK(topology.transfer(1, 1, 48'000'000).total() == 0);
}

TEST_CASE("ranks that share a wire weigh on it together") {
  auto network = std::make_shared<Network>();
  network->graph = build_topology("pcie:4");
  network->layout = layout_of(2, 1, 1, 2);
  const Topology topology = Topology::over(network);
  int shared = 0;
  for (const LinkShare& share : topology.path(0, 0, 1).links) shared += share.weight == 2 ? 1 : 0;
  CHECK(shared == 2);  // up from one switch and down to the other
  CHECK(topology.transfer(0, 1, 24'000'000).serialisation == 2'000'000);
}

TEST_CASE("what every transfer pays and what none exceeds") {
  auto network = std::make_shared<Network>();
  network->graph = build_topology("ring:4,bandwidth=10GB/s,latency=100ns");
  network->layout = layout_of(1, 1, 1, 4);
  network->message_latency = 5000;
  network->transfer_bound = 1'000'000'000;
  const Topology topology = Topology::over(network);
  CHECK(topology.transfer(0, 1, 1'000'000).latency == 5100);
  CHECK(topology.transfer(0, 1, 1'000'000).serialisation == 1'000'000);
  CHECK(topology.contended());
}

}  // namespace
}  // namespace debubble::testing
