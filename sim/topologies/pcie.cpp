// Machines without NVSwitch.
//
//     pcie       gpu0 gpu1   gpu2 gpu3          two GPUs share the uplink of their PCIe switch; the machine's hosts
//                  \  /        \  /             share one network card
//                 pcie0        pcie1
//                     \        /
//                       host0 -- nic0 -- network
//
//     v100-mesh  the hybrid cube mesh of a DGX-1: 6 NVLinks per GPU, one or two to each of 4 neighbours; to the other 3
//                a message goes over a neighbour of both, where the narrower of the two links is widest
#include <algorithm>
#include <array>
#include <memory>

#include "sim/core/at.hpp"
#include "sim/topologies/presets.hpp"
#include "sim/topologies/routers.hpp"

namespace debubble {

namespace {

constexpr const char* kPcieRates = "usable of x16: generation 3 12, 4 24, 5 50 GB/s; nominal 15.8, 31.5, 63";

LinkGraph build_pcie(const PresetValues& values) {
  const auto devices = static_cast<std::int32_t>(values.units);
  const std::int32_t per_switch = values.count("per-switch");
  const std::int32_t per_host = values.count("per-host");
  const LinkSpeed pcie = values.speed("bandwidth", "latency");
  GraphBuilder builder;
  std::vector<TreePlace> places;
  const auto hang = [&](std::int32_t node, std::int32_t parent, LinkSpeed speed) {
    const std::int32_t up = builder.connect(node, parent, speed);
    places.resize(static_cast<std::size_t>(builder.graph().nodes.size()));
    at(places, node).parent = parent;
    at(places, node).up = up;
    at(places, node).down = up + 1;
  };
  const bool several = devices > per_host;
  const std::int32_t network = several ? builder.add_node(GraphNode::Kind::kSwitch, "network") : -1;
  std::int32_t host = -1;
  std::int32_t bridge = -1;
  std::int32_t bridges = 0;
  for (std::int32_t device = 0; device < devices; ++device) {
    const std::int32_t machine = device / per_host;
    if (device % per_host == 0) {
      host = builder.add_node(GraphNode::Kind::kHost, "host" + std::to_string(machine));
      places.resize(builder.graph().nodes.size());
      places.back().host = true;
      if (several) {
        const std::int32_t nic = builder.add_node(GraphNode::Kind::kNic, "nic" + std::to_string(machine));
        hang(host, nic, pcie);
        at(places, host).host = true;
        hang(nic, network, values.speed("nic", "nic-latency"));
      }
    }
    if (device % per_host % per_switch == 0) {
      bridge = builder.add_node(GraphNode::Kind::kSwitch, "pcie" + std::to_string(bridges++));
      hang(bridge, host, pcie);
    }
    hang(builder.add_device(machine), bridge, pcie);
  }
  return builder.finish(values.text, tree_router(std::move(places), builder.graph().devices));
}

// How many NVLinks join two GPUs of a DGX-1 with V100.
constexpr int kGpus = 8;
constexpr std::array<std::array<int, kGpus>, kGpus> kCubeMesh{{{0, 1, 1, 2, 2, 0, 0, 0},
                                                               {1, 0, 2, 1, 0, 2, 0, 0},
                                                               {1, 2, 0, 2, 0, 0, 1, 0},
                                                               {2, 1, 2, 0, 0, 0, 0, 1},
                                                               {2, 0, 0, 0, 0, 1, 1, 2},
                                                               {0, 2, 0, 0, 1, 0, 2, 1},
                                                               {0, 0, 1, 0, 1, 2, 0, 2},
                                                               {0, 0, 0, 1, 2, 1, 2, 0}}};

int nvlinks(std::size_t a, std::size_t b) { return kCubeMesh.at(a).at(b); }

// The neighbour of both over which most fits; the lowest number of several.
std::size_t between(std::size_t a, std::size_t b) {
  std::size_t best = 0;
  int widest = 0;
  for (std::size_t k = 0; k < kGpus; ++k) {
    const int width = std::min(nvlinks(a, k), nvlinks(k, b));
    if (width > widest) {
      widest = width;
      best = k;
    }
  }
  return best;
}

// One machine's links, the same for all: relative to its first.
struct CubeMeshLinks {
  std::array<std::array<std::int32_t, kGpus>, kGpus> nvlink{};
  std::array<std::int32_t, kGpus> pcie{};         // GPU to PCIe switch; the next one back
  std::array<std::int32_t, kGpus / 2> uplink{};   // PCIe switch to host
  std::array<std::int32_t, kGpus / 2> card{};     // PCIe switch to network card
  std::array<std::int32_t, kGpus / 2> network{};  // card to the network
  std::int32_t count = 0;
};

class CubeMeshRouter final : public Router {
 public:
  explicit CubeMeshRouter(const CubeMeshLinks& links) : links_(links) {}

  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const override {
    if (from == to) return;
    const auto a = static_cast<std::size_t>(from % kGpus);
    const auto b = static_cast<std::size_t>(to % kGpus);
    const std::int32_t first = from / kGpus * links_.count;
    if (from / kGpus != to / kGpus) {
      const std::int32_t other = to / kGpus * links_.count;
      links.insert(links.end(), {first + links_.pcie.at(a), first + links_.card.at(a / 2),
                                 first + links_.network.at(a / 2), other + links_.network.at(b / 2) + 1,
                                 other + links_.card.at(b / 2) + 1, other + links_.pcie.at(b) + 1});
    } else if (nvlinks(a, b) > 0) {
      links.push_back(first + links_.nvlink.at(a).at(b));
    } else {
      const std::size_t middle = between(a, b);
      links.insert(links.end(), {first + links_.nvlink.at(a).at(middle), first + links_.nvlink.at(middle).at(b)});
    }
  }

  bool host_route(std::int32_t device, bool to_host, std::vector<std::int32_t>& links) const override {
    const std::int32_t first = device / kGpus * links_.count;
    const std::int32_t own = first + links_.pcie.at(static_cast<std::size_t>(device % kGpus));
    const std::int32_t shared = first + links_.uplink.at(static_cast<std::size_t>(device % kGpus / 2));
    if (to_host) {
      links.insert(links.end(), {own, shared});
    } else {
      links.insert(links.end(), {shared + 1, own + 1});
    }
    return true;
  }

 private:
  CubeMeshLinks links_;
};

CubeMeshLinks add_cube_mesh(GraphBuilder& builder, const PresetValues& values, std::int32_t machine,
                            std::int32_t network) {
  CubeMeshLinks links;
  const auto first = static_cast<std::int32_t>(builder.graph().links.size());
  const LinkSpeed pcie = values.speed("pcie", "pcie-latency");
  std::array<std::int32_t, kGpus> gpus{};
  for (std::int32_t& gpu : gpus) gpu = builder.add_device(machine);
  for (std::size_t a = 0; a < kGpus; ++a) {
    for (std::size_t b = a + 1; b < kGpus; ++b) {
      if (nvlinks(a, b) == 0) continue;
      const LinkSpeed speed{scaled_rate(values["bandwidth"], nvlinks(a, b)), values["latency"]};
      links.nvlink.at(a).at(b) = builder.connect(gpus.at(a), gpus.at(b), speed) - first;
      links.nvlink.at(b).at(a) = links.nvlink.at(a).at(b) + 1;
    }
  }
  const std::int32_t host = builder.add_node(GraphNode::Kind::kHost, "host" + std::to_string(machine));
  for (std::size_t k = 0; k < kGpus / 2; ++k) {
    const std::string number = std::to_string(static_cast<std::size_t>(machine) * (kGpus / 2) + k);
    const std::int32_t bridge = builder.add_node(GraphNode::Kind::kSwitch, "pcie" + number);
    for (const std::size_t gpu : {2 * k, 2 * k + 1}) {
      links.pcie.at(gpu) = builder.connect(gpus.at(gpu), bridge, pcie) - first;
    }
    links.uplink.at(k) = builder.connect(bridge, host, pcie) - first;
    const std::int32_t nic = builder.add_node(GraphNode::Kind::kNic, "nic" + number);
    links.card.at(k) = builder.connect(bridge, nic, pcie) - first;
    links.network.at(k) = builder.connect(nic, network, values.speed("nic", "nic-latency")) - first;
  }
  links.count = static_cast<std::int32_t>(builder.graph().links.size()) - first;
  return links;
}

LinkGraph build_v100_mesh(const PresetValues& values) {
  GraphBuilder builder;
  const std::int32_t network = builder.add_node(GraphNode::Kind::kSwitch, "network");
  CubeMeshLinks links;
  for (std::int32_t machine = 0; machine < static_cast<std::int32_t>(values.units); ++machine) {
    links = add_cube_mesh(builder, values, machine, network);
  }
  return builder.finish(values.text, std::make_shared<CubeMeshRouter>(links));
}

}  // namespace

std::vector<TopologyEntry> pcie_topologies() {
  const char* astra = "as between ASTRA-sim's H100 machines: half of 1,000 ns";
  return {{"v100-mesh",
           "v100-mesh:N",
           "machines of 8 GPUs",
           1,
           kMostGraphDevices / kGpus,
           "8 V100 in the hybrid cube mesh of a DGX-1 and 4 network cards; without N: one machine",
           {rate_param("bandwidth", 20'000'000'000, "each NVLink, one way", Source::kPublished,
                       "NCCL's tables; nominal 25 GB/s; a pair has 0, 1 or 2 of them"),
            time_param("latency", 1872, "GPU to its neighbour over NVLink", Source::kModelled, "as measured for H100"),
            rate_param("pcie", 12'000'000'000, "PCIe 3 x16, one way", Source::kPublished,
                       "NCCL's tables; nominal 15.8 GB/s"),
            time_param("pcie-latency", 500, "each PCIe link", Source::kModelled, ""),
            rate_param("nic", 12'000'000'000, "network card of two GPUs, one way", Source::kPublished,
                       "NCCL's tables for 100 Gbit/s; nominal 12.5 GB/s"),
            time_param("nic-latency", 500, "network card to switch", Source::kModelled, astra)},
           build_v100_mesh},
          {"pcie",
           "pcie:N",
           "GPUs",
           0,
           kMostGraphDevices,
           "GPUs in pairs behind PCIe switches that share an uplink to the host",
           {rate_param("bandwidth", 24'000'000'000, "PCIe x16, one way", Source::kPublished, kPcieRates),
            time_param("latency", 500, "each PCIe link", Source::kModelled, ""),
            count_param("per-switch", 2, 1, 64, "GPUs per PCIe switch"),
            count_param("per-host", 8, 1, 64, "GPUs per machine"),
            rate_param("nic", 12'000'000'000, "network card of a machine, one way", Source::kPublished,
                       "NCCL's tables for 100 Gbit/s; nominal 12.5 GB/s; with more than one machine"),
            time_param("nic-latency", 500, "network card to switch", Source::kModelled, astra)},
           build_pcie}};
}

}  // namespace debubble
