// Dragonfly: groups of routers, each joined to every other router of its group and a few of them to each other group
// (Kim, Dally, Scott, Abts: "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008).
//
//     device -> router -> (router with the global link) -> (router of the other group) -> router -> device
//
// Minimal routes, one per pair. Which of the `links` between two groups a pair takes follows from both device numbers,
// so that uniform traffic spreads over all of them.
#include <memory>

#include "sim/topologies/presets.hpp"
#include "sim/topologies/switched.hpp"

namespace debubble {

namespace {

struct DragonflyShape {
  std::int32_t per_router = 0;  // devices
  std::int32_t routers = 0;     // per group
  std::int32_t groups = 0;
  std::int32_t links = 0;  // between each two groups

  [[nodiscard]] std::int32_t devices() const { return per_router * routers * groups; }
  [[nodiscard]] std::int32_t group_of(std::int32_t device) const { return device / per_router / routers; }
  // The router within its group.
  [[nodiscard]] std::int32_t router_of(std::int32_t device) const { return device / per_router % routers; }
  // The router of `group` at which link number `link` to `other` begins: round robin over its ports.
  [[nodiscard]] std::int32_t gateway(std::int32_t group, std::int32_t other, std::int32_t link) const {
    const std::int32_t neighbour = (other - group - 1 + groups) % groups;
    return (neighbour * links + link) % routers;
  }
  // Links: device k up 2k, down 2k + 1; then per group router a to b; then per pair of groups.
  [[nodiscard]] std::int32_t local(std::int32_t group, std::int32_t a, std::int32_t b) const {
    return 2 * devices() + (group * routers + a) * (routers - 1) + (b < a ? b : b - 1);
  }
  [[nodiscard]] std::int32_t global(std::int32_t group, std::int32_t other, std::int32_t link) const {
    const std::int32_t before = 2 * devices() + groups * routers * (routers - 1);
    return before + (group * (groups - 1) + (other < group ? other : other - 1)) * links + link;
  }
};

class DragonflyRouter final : public Router {
 public:
  explicit DragonflyRouter(const DragonflyShape& shape) : shape_(shape) {}

  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const override {
    if (from == to) return;
    const std::int32_t near = shape_.group_of(from);
    const std::int32_t far = shape_.group_of(to);
    links.push_back(2 * from);
    if (near == far) {
      inside(near, shape_.router_of(from), shape_.router_of(to), links);
    } else {
      const std::int32_t group_size = shape_.per_router * shape_.routers;
      const std::int32_t link = (from % group_size + to % group_size) % shape_.links;
      inside(near, shape_.router_of(from), shape_.gateway(near, far, link), links);
      links.push_back(shape_.global(near, far, link));
      inside(far, shape_.gateway(far, near, link), shape_.router_of(to), links);
    }
    links.push_back(2 * to + 1);
  }

 private:
  void inside(std::int32_t group, std::int32_t a, std::int32_t b, std::vector<std::int32_t>& links) const {
    if (a != b) links.push_back(shape_.local(group, a, b));
  }

  DragonflyShape shape_;
};

LinkGraph build_dragonfly(const PresetValues& values) {
  const DragonflyShape shape{values.count("devices"), values.count("routers"), values.count("groups"),
                             values.count("links")};
  check_devices(values, values["devices"] * values["routers"] * values["groups"]);
  check_links(values, values["groups"] * (values["groups"] - 1) * values["links"]);
  GraphBuilder builder;
  for (std::int32_t k = 0; k < shape.devices(); ++k) builder.add_device(shape.group_of(k));
  const auto first = static_cast<std::int32_t>(builder.graph().nodes.size());
  const auto router = [&](std::int32_t group, std::int32_t k) { return first + group * shape.routers + k; };
  for (std::int32_t k = 0; k < shape.groups * shape.routers; ++k) {
    builder.add_node(GraphNode::Kind::kSwitch, "router" + std::to_string(k));
  }
  for (std::int32_t k = 0; k < shape.devices(); ++k) {
    builder.connect(k, router(shape.group_of(k), shape.router_of(k)), values.speed("bandwidth", "latency"));
  }
  for (std::int32_t group = 0; group < shape.groups; ++group) {
    for (std::int32_t a = 0; a < shape.routers; ++a) {
      for (std::int32_t b = 0; b < shape.routers; ++b) {
        if (b != a) builder.add_link(router(group, a), router(group, b), values.speed("local", "latency"));
      }
    }
  }
  for (std::int32_t group = 0; group < shape.groups; ++group) {
    for (std::int32_t other = 0; other < shape.groups; ++other) {
      for (std::int32_t link = 0; link < shape.links && other != group; ++link) {
        builder.add_link(router(group, shape.gateway(group, other, link)),
                         router(other, shape.gateway(other, group, link)), values.speed("global", "global-latency"));
      }
    }
  }
  return builder.finish(values.text, std::make_shared<DragonflyRouter>(shape));
}

}  // namespace

TopologyEntry dragonfly_topology() {
  const char* rate = "400 Gbit/s less 4 % of headers; nominal 50 GB/s";
  return {
      "dragonfly",
      "dragonfly:devices=8,routers=16,groups=8,links=18",
      "",
      0,
      0,
      "groups of routers, all joined within; links= between each two groups",
      {count_param("devices", 8, 1, 64, "devices per router"), count_param("routers", 16, 1, 64, "routers per group"),
       count_param("groups", 8, 1, 512, "groups"), count_param("links", 18, 1, 1024, "links between each two groups"),
       rate_param("bandwidth", 48'000'000'000, "GPU to router, one way", Source::kPublished, rate),
       rate_param("local", 48'000'000'000, "between routers of a group, one way", Source::kPublished, rate),
       rate_param("global", 48'000'000'000, "between groups, one way", Source::kPublished, rate),
       time_param("latency", 500, "each link within a group", Source::kModelled, ""),
       time_param("global-latency", 1000, "each link between groups", Source::kModelled, "")},
      build_dragonfly};
}

std::vector<TopologyEntry> switched_topologies() { return {fat_tree_topology(), dragonfly_topology()}; }

}  // namespace debubble
