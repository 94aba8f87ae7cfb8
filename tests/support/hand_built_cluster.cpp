#include "tests/support/hand_built_cluster.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace debubble::testing {

namespace {

using Route = std::vector<std::int32_t>;

// Routes from a table made with the graph.
class TableRouter : public Router {
 public:
  void route(std::int32_t from, std::int32_t to, Route& links) const override {
    if (from == to) return;
    const Route& found = routes.at({from, to});
    links.insert(links.end(), found.begin(), found.end());
  }
  bool host_route(std::int32_t device, bool to_host, Route& links) const override {
    const auto found = hosts.find({device, to_host});
    if (found == hosts.end()) return false;
    links.insert(links.end(), found->second.begin(), found->second.end());
    return true;
  }

  std::map<std::pair<std::int32_t, std::int32_t>, Route> routes;
  std::map<std::pair<std::int32_t, bool>, Route> hosts;
};

struct Wiring {
  LinkGraph graph;
  std::shared_ptr<TableRouter> router = std::make_shared<TableRouter>();

  std::int32_t node(GraphNode::Kind kind, std::string name) {
    GraphNode made;
    made.kind = kind;
    made.name = std::move(name);
    graph.nodes.push_back(made);
    return static_cast<std::int32_t>(graph.nodes.size()) - 1;
  }
  std::int32_t device(int domain) {
    const auto number = graph.device_count();
    graph.devices.push_back(node(GraphNode::Kind::kDevice, "gpu" + std::to_string(number)));
    graph.domain.push_back(domain);
    return number;
  }
  std::int32_t link(std::int32_t from, std::int32_t to, std::int64_t bandwidth, Nanoseconds latency) {
    debubble::Link made;
    made.from = from;
    made.to = to;
    made.bandwidth = bandwidth;
    made.latency = latency;
    graph.links.push_back(made);
    return static_cast<std::int32_t>(graph.links.size()) - 1;
  }
  LinkGraph finish(std::string name) {
    graph.name = std::move(name);
    graph.router = router;
    return std::move(graph);
  }
};

}  // namespace

LinkGraph machines(const MachineSizes& sizes) {
  Wiring w;
  const std::int32_t core = w.node(GraphNode::Kind::kSwitch, "core");
  struct Ends {
    std::int32_t up = 0, down = 0, out = 0, in = 0;
  };
  std::vector<Ends> ends;
  for (int m = 0; m < sizes.machines; ++m) {
    const std::int32_t inner = w.node(GraphNode::Kind::kSwitch, "inner" + std::to_string(m));
    const std::int32_t shared = sizes.one_card ? w.node(GraphNode::Kind::kNic, "nic" + std::to_string(m)) : -1;
    Ends end;
    if (sizes.one_card) {
      end.out = w.link(shared, core, sizes.outer, sizes.outer_latency);
      end.in = w.link(core, shared, sizes.outer, sizes.outer_latency);
    }
    std::int32_t to_host = -1;
    std::int32_t from_host = -1;
    if (sizes.host > 0) {
      const std::int32_t host = w.node(GraphNode::Kind::kHost, "host" + std::to_string(m));
      to_host = w.link(inner, host, sizes.host, 0);
      from_host = w.link(host, inner, sizes.host, 0);
    }
    for (int g = 0; g < sizes.gpus; ++g) {
      const std::int32_t number = w.device(m);
      const std::int32_t node = w.graph.devices.back();
      end.up = w.link(node, inner, sizes.inner, sizes.inner_latency);
      end.down = w.link(inner, node, sizes.inner, sizes.inner_latency);
      if (!sizes.one_card) {
        const std::int32_t nic = w.node(GraphNode::Kind::kNic, "nic" + std::to_string(number));
        end.out = w.link(nic, core, sizes.outer, sizes.outer_latency);
        end.in = w.link(core, nic, sizes.outer, sizes.outer_latency);
      }
      ends.push_back(end);
      if (to_host < 0) continue;
      w.router->hosts[{number, true}] = {end.up, to_host};
      w.router->hosts[{number, false}] = {from_host, end.down};
    }
  }
  for (std::size_t a = 0; a < ends.size(); ++a) {
    for (std::size_t b = 0; b < ends.size(); ++b) {
      if (a == b) continue;
      const bool near = a / static_cast<std::size_t>(sizes.gpus) == b / static_cast<std::size_t>(sizes.gpus);
      const Route route = near ? Route{ends[a].up, ends[b].down} : Route{ends[a].out, ends[b].in};
      w.router->routes[{static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)}] = route;
    }
  }
  return w.finish("machines");
}

LinkGraph line_of(int devices, std::int64_t bandwidth, Nanoseconds latency) {
  Wiring w;
  for (int d = 0; d < devices; ++d) w.device(0);
  Route up;
  Route down;
  for (int d = 0; d + 1 < devices; ++d) {
    up.push_back(w.link(d, d + 1, bandwidth, latency));
    down.push_back(w.link(d + 1, d, bandwidth, latency));
  }
  for (int a = 0; a < devices; ++a) {
    for (int b = 0; b < devices; ++b) {
      Route& route = w.router->routes[{a, b}];
      for (int d = a; d < b; ++d) route.push_back(up[static_cast<std::size_t>(d)]);
      for (int d = a; d > b; --d) route.push_back(down[static_cast<std::size_t>(d - 1)]);
    }
  }
  return w.finish("line");
}

LinkGraph ring_of(int devices, std::int64_t bandwidth, Nanoseconds latency) {
  Wiring w;
  for (int d = 0; d < devices; ++d) w.device(0);
  Route clockwise;
  Route back;
  for (int d = 0; d < devices; ++d) {
    clockwise.push_back(w.link(d, (d + 1) % devices, bandwidth, latency));
    back.push_back(w.link((d + 1) % devices, d, bandwidth, latency));
  }
  for (int a = 0; a < devices; ++a) {
    for (int b = 0; b < devices; ++b) {
      const int ahead = (b - a + devices) % devices;
      Route& route = w.router->routes[{a, b}];
      if (ahead <= devices - ahead) {
        for (int k = 0; k < ahead; ++k) route.push_back(clockwise[static_cast<std::size_t>((a + k) % devices)]);
      } else {
        for (int k = 1; k <= devices - ahead; ++k) {
          route.push_back(back[static_cast<std::size_t>((a - k + devices) % devices)]);
        }
      }
    }
  }
  return w.finish("ring");
}

LinkGraph switch_of(int devices, std::int64_t bandwidth, Nanoseconds latency) {
  MachineSizes sizes;
  sizes.gpus = devices;
  sizes.inner = bandwidth;
  sizes.inner_latency = latency;
  return machines(sizes);
}

LinkGraph all_to_all_of(int devices, std::int64_t bandwidth, Nanoseconds latency) {
  Wiring w;
  for (int d = 0; d < devices; ++d) w.device(0);
  for (int a = 0; a < devices; ++a) {
    for (int b = 0; b < devices; ++b) {
      if (a != b) w.router->routes[{a, b}] = {w.link(a, b, bandwidth, latency)};
    }
  }
  return w.finish("all to all");
}

Topology lay(LinkGraph graph, int pipeline, int data, int tensor, NetworkModel model) {
  auto network = std::make_shared<Network>();
  network->graph = std::move(graph);
  network->layout.sizes.pipeline = pipeline;
  network->layout.sizes.data = data;
  network->layout.sizes.tensor = tensor;
  network->model = model;
  return Topology::over(std::move(network));
}

}  // namespace debubble::testing
