// A fat tree of two levels: leaf switches with devices below, spines above, one link from each leaf to each spine.
//
//     spine0 spine1 ...      as many as a leaf has uplinks: `leaf` devices divided by the oversubscription
//        |  X  |
//     leaf0  leaf1 ...       up to spine (target mod spines), then down: the choice of an InfiniBand subnet manager
//     / | \  / | \.
#include <memory>

#include "sim/core/at.hpp"
#include "sim/topologies/presets.hpp"
#include "sim/topologies/switched.hpp"

namespace debubble {

namespace {

struct FatTreeShape {
  std::int32_t devices = 0;
  std::int32_t per_leaf = 0;
  std::int32_t spines = 0;

  [[nodiscard]] std::int32_t leaves() const { return (devices + per_leaf - 1) / per_leaf; }
};

// Links: device k up 2k, down 2k + 1; then leaf l to spine s 2 (devices + l spines + s), and back.
class FatTreeRouter final : public Router {
 public:
  explicit FatTreeRouter(const FatTreeShape& shape) : shape_(shape) {}

  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const override {
    if (from == to) return;
    const std::int32_t near = from / shape_.per_leaf;
    const std::int32_t far = to / shape_.per_leaf;
    links.push_back(2 * from);
    if (near != far) {
      links.push_back(2 * (shape_.devices + near * shape_.spines + to % shape_.spines));
      links.push_back(2 * (shape_.devices + far * shape_.spines + to % shape_.spines) + 1);
    }
    links.push_back(2 * to + 1);
  }

 private:
  FatTreeShape shape_;
};

LinkGraph build_fat_tree(const PresetValues& values) {
  FatTreeShape shape{static_cast<std::int32_t>(values.units), values.count("leaf"), 0};
  const std::int64_t taper = values["oversubscription"];
  // A number of uplinks that is no whole one is rounded up, each slower, so that their sum is what was asked for.
  shape.spines = static_cast<std::int32_t>((std::int64_t{shape.per_leaf} * 1000 + taper - 1) / taper);
  const std::int64_t uplinks = scaled_rate(values["bandwidth"], shape.per_leaf, taper);
  GraphBuilder builder;
  for (std::int32_t k = 0; k < shape.devices; ++k) builder.add_device(k / shape.per_leaf);
  std::vector<std::int32_t> leaves;
  for (std::int32_t k = 0; k < shape.leaves(); ++k) {
    leaves.push_back(builder.add_node(GraphNode::Kind::kSwitch, "leaf" + std::to_string(k)));
  }
  std::vector<std::int32_t> spines;
  for (std::int32_t k = 0; k < shape.spines && shape.leaves() > 1; ++k) {
    spines.push_back(builder.add_node(GraphNode::Kind::kSwitch, "spine" + std::to_string(k)));
  }
  for (std::int32_t k = 0; k < shape.devices; ++k) {
    builder.connect(k, at(leaves, k / shape.per_leaf), values.speed("bandwidth", "latency"));
  }
  for (const std::int32_t leaf : leaves) {
    for (const std::int32_t spine : spines) {
      builder.connect(leaf, spine, {std::max<std::int64_t>(1, uplinks / shape.spines), values["latency"]});
    }
  }
  return builder.finish(values.text, std::make_shared<FatTreeRouter>(shape));
}

}  // namespace

TopologyEntry fat_tree_topology() {
  return {"fat-tree",
          "fat-tree:N",
          "devices",
          0,
          kMostGraphDevices,
          "two levels of switches; oversubscription= GPUs' bandwidth over the uplinks'",
          {rate_param("bandwidth", 48'000'000'000, "each link, one way", Source::kPublished,
                      "400 Gbit/s less 4 % of headers; nominal 50 GB/s"),
           time_param("latency", 500, "each link", Source::kModelled, ""),
           count_param("leaf", 32, 1, 1024, "GPUs per leaf switch"),
           ratio_param("oversubscription", 1000, "GPUs' bandwidth over the uplinks' of a leaf")},
          build_fat_tree};
}

}  // namespace debubble
