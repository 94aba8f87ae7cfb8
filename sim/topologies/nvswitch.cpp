// Machines whose GPUs share a crossbar of NVSwitches, and rails of network switches between the machines.
//
//     gpu0 ... gpu7     each to nvswitch0 and back: a crossbar never blocks, so these two links are all there is to it
//      |        |
//     nic0     nic7     one network card per GPU, on a PCIe switch with the link to the host
//      |        |
//     rail0    rail7    GPU k of every machine on rail k; between GPUs of different rails a message first crosses the
//                       NVSwitch to the GPU of its own machine that is on the target's rail (NCCL calls it PXN)
//
// With `pod` machines per pod a rail is one switch per pod, and the pods of a rail meet in a core switch, over a link
// of all of the pod's bandwidth divided by `oversubscription`.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/link_graph.hpp"
#include "sim/core/nvlink_rates.hpp"
#include "sim/topologies/graph_builder.hpp"
#include "sim/topologies/presets.hpp"

namespace debubble {
namespace {

struct RailMachines {
  std::int32_t machines = 1;
  std::int32_t gpus = 8;                 // per machine
  std::int32_t rails = 8;                // GPU k of a machine is on rail k mod rails; divides gpus
  LinkSpeed nvlink;                      // GPU to the crossbar
  LinkSpeed nic;                         // network card to its rail's switch
  LinkSpeed pcie;                        // GPU to its card, and to the host
  std::int32_t gpus_per_uplink = 2;      // divides gpus
  bool host_per_uplink = false;          // GPUs hang on their hosts directly: NVLink C2C
  std::int32_t pod = 1;                  // machines per pod; all of them: no core switches
  std::int64_t oversubscription = 1000;  // thousandths
  bool switch_reduces = false;           // the crossbar adds up what flows through it
};

// Where a GPU's links are: always at the same distance from its machine's first.
constexpr std::int32_t kUp = 0;  // to the crossbar; the next one back
constexpr std::int32_t kCard = 2;
constexpr std::int32_t kRail = 4;
constexpr std::int32_t kHost = 6;  // card to PCIe switch, or GPU to host
constexpr std::int32_t kPerGpu = 8;

// Numbers of links, from the shape alone.
struct RailNumbers {
  explicit RailNumbers(const RailMachines& shape)
      : gpus(shape.gpus),
        rails(shape.rails),
        uplinks(shape.host_per_uplink ? 0 : shape.gpus / shape.gpus_per_uplink),
        gpus_per_uplink(shape.gpus_per_uplink),
        per_machine(shape.gpus * kPerGpu + 2 * uplinks),
        first_core(shape.machines * per_machine),
        pod(shape.pod) {}

  [[nodiscard]] std::int32_t of_gpu(std::int32_t device) const {
    return device / gpus * per_machine + device % gpus * kPerGpu;
  }
  // From the PCIe switch of a GPU to the host; the next one back.
  [[nodiscard]] std::int32_t uplink(std::int32_t device) const {
    return device / gpus * per_machine + gpus * kPerGpu + device % gpus / gpus_per_uplink * 2;
  }
  // From a pod's switch of that rail to the core; the next one back.
  [[nodiscard]] std::int32_t core(std::int32_t device) const {
    return first_core + (device / gpus / pod * rails + device % rails) * 2;
  }

  std::int32_t gpus;
  std::int32_t rails;
  std::int32_t uplinks;  // per machine
  std::int32_t gpus_per_uplink;
  std::int32_t per_machine;
  std::int32_t first_core;
  std::int32_t pod;
};

class RailRouter final : public Router {
 public:
  explicit RailRouter(const RailNumbers& numbers) : numbers_(numbers) {}

  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const override {
    if (from == to) return;
    if (from / numbers_.gpus == to / numbers_.gpus) return cross(from, to, links);
    // Cards reach cards of their own rail only.
    const std::int32_t sender = from - from % numbers_.rails + to % numbers_.rails;
    if (sender != from) cross(from, sender, links);
    links.push_back(numbers_.of_gpu(sender) + kCard);
    links.push_back(numbers_.of_gpu(sender) + kRail);
    if (pod_of(from) != pod_of(to)) {
      links.push_back(numbers_.core(sender));
      links.push_back(numbers_.core(to) + 1);
    }
    links.push_back(numbers_.of_gpu(to) + kRail + 1);
    links.push_back(numbers_.of_gpu(to) + kCard + 1);
  }

  bool host_route(std::int32_t device, bool to_host, std::vector<std::int32_t>& links) const override {
    const std::int32_t own = numbers_.of_gpu(device);
    if (numbers_.uplinks == 0) {
      links.push_back(own + kHost + (to_host ? 0 : 1));
    } else if (to_host) {
      links.insert(links.end(), {own + kCard, own + kHost, numbers_.uplink(device)});
    } else {
      links.insert(links.end(), {numbers_.uplink(device) + 1, own + kHost + 1, own + kCard + 1});
    }
    return true;
  }

 private:
  void cross(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const {
    links.push_back(numbers_.of_gpu(from) + kUp);
    links.push_back(numbers_.of_gpu(to) + kUp + 1);
  }
  [[nodiscard]] std::int32_t pod_of(std::int32_t device) const { return device / numbers_.gpus / numbers_.pod; }

  RailNumbers numbers_;
};

// The nodes outside the machines.
struct Switches {
  std::vector<std::int32_t> rail;  // by pod and rail
  std::vector<std::int32_t> core;  // by rail; empty with one pod
};

Switches add_switches(GraphBuilder& builder, const RailMachines& shape) {
  Switches switches;
  const std::int32_t pods = (shape.machines + shape.pod - 1) / shape.pod;
  for (std::int32_t pod = 0; pod < pods; ++pod) {
    for (std::int32_t rail = 0; rail < shape.rails; ++rail) {
      std::string name = "rail" + std::to_string(rail);
      if (pods > 1) name = "pod" + std::to_string(pod) + "." + name;
      switches.rail.push_back(builder.add_node(GraphNode::Kind::kSwitch, std::move(name)));
    }
  }
  for (std::int32_t rail = 0; rail < shape.rails && pods > 1; ++rail) {
    switches.core.push_back(builder.add_node(GraphNode::Kind::kSwitch, "core" + std::to_string(rail)));
  }
  return switches;
}

void add_machine(GraphBuilder& builder, const RailMachines& shape, std::int32_t machine, const Switches& switches) {
  const std::string number = std::to_string(machine);
  std::vector<std::int32_t> gpus;
  for (std::int32_t k = 0; k < shape.gpus; ++k) gpus.push_back(builder.add_device(machine));
  const std::int32_t crossbar = builder.add_reducing_switch("nvswitch" + number, shape.switch_reduces);
  const std::int32_t uplinks = shape.gpus / shape.gpus_per_uplink;
  std::vector<std::int32_t> hosts;
  std::vector<std::int32_t> pcie;
  for (std::int32_t k = 0; k < (shape.host_per_uplink ? uplinks : 1); ++k) {
    const std::string name = shape.host_per_uplink ? "grace" + std::to_string(machine * uplinks + k) : "host" + number;
    hosts.push_back(builder.add_node(GraphNode::Kind::kHost, name));
  }
  for (std::int32_t k = 0; k < uplinks && !shape.host_per_uplink; ++k) {
    pcie.push_back(builder.add_node(GraphNode::Kind::kSwitch, "pcie" + std::to_string(machine * uplinks + k)));
  }
  const std::int32_t pod = machine / shape.pod;
  for (std::int32_t k = 0; k < shape.gpus; ++k) {
    const std::int32_t gpu = at(gpus, k);
    const auto uplink = static_cast<std::size_t>(k / shape.gpus_per_uplink);
    const std::int32_t nic = builder.add_node(GraphNode::Kind::kNic, "nic" + std::to_string(machine * shape.gpus + k));
    builder.connect(gpu, crossbar, shape.nvlink);
    builder.connect(gpu, nic, shape.host_per_uplink ? LinkSpeed{shape.nic.bandwidth, shape.pcie.latency} : shape.pcie);
    builder.connect(nic, at(switches.rail, pod * shape.rails + k % shape.rails), shape.nic);
    builder.connect(shape.host_per_uplink ? gpu : nic, shape.host_per_uplink ? hosts[uplink] : pcie[uplink],
                    {shape.pcie.bandwidth, shape.host_per_uplink ? shape.pcie.latency : 0});
  }
  for (const std::int32_t node : pcie) builder.connect(node, hosts.front(), shape.pcie);
}

LinkGraph build_rail_machines(const RailMachines& shape, const std::string& name) {
  GraphBuilder builder;
  const auto machines = static_cast<std::size_t>(shape.machines);
  const auto gpus = static_cast<std::size_t>(shape.gpus);
  builder.reserve(machines * (3 * gpus + 2) + 1024, machines * gpus * 9 + 1024);
  const Switches switches = add_switches(builder, shape);
  for (std::int32_t k = 0; k < shape.machines; ++k) add_machine(builder, shape, k, switches);
  const std::int64_t cards = std::int64_t{shape.gpus / shape.rails} * shape.pod;
  const std::int64_t pod_bandwidth = scaled_rate(shape.nic.bandwidth, cards, shape.oversubscription);
  for (std::size_t k = 0; k < switches.rail.size() && !switches.core.empty(); ++k) {
    builder.connect(switches.rail[k], switches.core[k % switches.core.size()], {pod_bandwidth, shape.nic.latency});
  }
  return builder.finish(name, std::make_shared<RailRouter>(RailNumbers(shape)));
}

constexpr const char* kNvlinkLatency =
    "half of the 1.87 us that ASTRA-sim's validated H100 preset takes to a neighbour";
constexpr const char* kNicLatency = "ASTRA-sim's 1,000 ns between H100 machines, half of it on each side of a switch";

std::vector<TopologyParam> network_params(std::int64_t nic, const char* nic_origin) {
  return {rate_param("nic", nic, "network card, one way", Source::kPublished, nic_origin),
          time_param("nic-latency", 500, "network card to switch", Source::kPublished, kNicLatency),
          count_param("pod", 0, 0, kMostGraphDevices, "machines per pod; 0: all on one switch per rail"),
          ratio_param("oversubscription", 1000, "of the links between the pods")};
}

std::vector<TopologyParam> params_of(std::vector<TopologyParam> own, const std::vector<TopologyParam>& network) {
  own.insert(own.end(), network.begin(), network.end());
  return own;
}

RailMachines common(const PresetValues& values) {
  RailMachines shape;
  shape.machines = static_cast<std::int32_t>(values.units);
  shape.nvlink = values.speed("bandwidth", "latency");
  shape.nic = values.speed("nic", "nic-latency");
  const std::int64_t pod = values["pod"];
  shape.pod = pod == 0 ? shape.machines : static_cast<std::int32_t>(std::min<std::int64_t>(pod, shape.machines));
  shape.oversubscription = values["oversubscription"];
  return shape;
}

LinkGraph build_dgx(const PresetValues& values, bool switch_reduces) {
  RailMachines shape = common(values);
  shape.switch_reduces = switch_reduces;
  shape.gpus = 8;
  shape.rails = 8;
  shape.pcie = values.speed("pcie", "pcie-latency");
  shape.gpus_per_uplink = 2;
  return build_rail_machines(shape, values.text);
}

LinkGraph build_dgx_a100(const PresetValues& values) { return build_dgx(values, false); }
LinkGraph build_dgx_reducing(const PresetValues& values) { return build_dgx(values, true); }

LinkGraph build_nvl72(const PresetValues& values) {
  RailMachines shape = common(values);
  shape.switch_reduces = true;
  shape.gpus = 72;
  shape.rails = 4;
  shape.pcie = values.speed("c2c", "c2c-latency");
  shape.gpus_per_uplink = 2;
  shape.host_per_uplink = true;
  return build_rail_machines(shape, values.text);
}

TopologyEntry dgx(const std::string& name, std::string summary, std::vector<TopologyParam> own,
                  const std::vector<TopologyParam>& network, LinkGraph (*build)(const PresetValues&)) {
  return {name,
          name + ":N",
          "machines of 8 GPUs",
          0,
          kMostGraphDevices / 8,
          std::move(summary),
          params_of(std::move(own), network),
          build};
}

}  // namespace

std::vector<TopologyEntry> nvswitch_topologies() {
  const char* ndr = "400 Gbit/s less 4 % of headers, and within the 45 to 49 GB/s measured; nominal 50 GB/s";
  const auto hopper = [&] {
    return std::vector<TopologyParam>{
        rate_param("bandwidth", kNvlinkOfH100, "NVLink of a GPU, one way", Source::kPublished,
                   "18 links of 20.6 GB/s in NCCL's tables (measured: 371 to 377); nominal 450 GB/s"),
        time_param("latency", 936, "GPU to NVSwitch", Source::kPublished, kNvlinkLatency),
        rate_param("pcie", 50'000'000'000, "PCIe 5 x16 of a GPU, one way", Source::kPublished,
                   "48 to 52 GB/s are usable; nominal 63 GB/s"),
        time_param("pcie-latency", 500, "GPU to network card or PCIe switch", Source::kModelled, "")};
  };
  const std::vector<TopologyParam> ndr_rails = network_params(48'000'000'000, ndr);
  return {dgx("dgx-a100", "8 A100 on NVSwitches, a 200 Gbit/s card per GPU, 8 rails",
              {rate_param("bandwidth", kNvlinkOfA100, "NVLink of a GPU, one way", Source::kPublished,
                          "12 links of 20 GB/s in NCCL's tables; nominal 300 GB/s"),
               time_param("latency", 936, "GPU to NVSwitch", Source::kPublished, kNvlinkLatency),
               rate_param("pcie", 24'000'000'000, "PCIe 4 x16 of a GPU, one way", Source::kPublished,
                          "24 to 25 GB/s are usable; nominal 31.5 GB/s"),
               time_param("pcie-latency", 500, "GPU to network card or PCIe switch", Source::kModelled, "")},
              network_params(24'000'000'000, "96 GB/s measured over 4 HDR cards of a machine; nominal 25 GB/s"),
              build_dgx_a100),
          dgx("dgx-h100", "8 H100 on NVSwitches, a 400 Gbit/s card per GPU, 8 rails", hopper(), ndr_rails,
              build_dgx_reducing),
          dgx("dgx-h200", "8 H200, wired like dgx-h100", hopper(), ndr_rails, build_dgx_reducing),
          dgx("dgx-b200", "8 B200 on NVSwitches, a 400 Gbit/s card per GPU, 8 rails",
              {rate_param("bandwidth", kNvlinkOfB200, "NVLink of a GPU, one way", Source::kPublished,
                          "18 links of 40.1 GB/s in NCCL's tables; nominal 900 GB/s"),
               time_param("latency", 936, "GPU to NVSwitch", Source::kModelled, "as measured for H100"),
               rate_param("pcie", 50'000'000'000, "PCIe 5 x16 of a GPU, one way", Source::kPublished,
                          "48 to 52 GB/s are usable; nominal 63 GB/s"),
               time_param("pcie-latency", 500, "GPU to network card or PCIe switch", Source::kModelled, "")},
              ndr_rails, build_dgx_reducing),
          {"gb200-nvl72", "gb200-nvl72:N", "racks of 72 GPUs", 0, kMostGraphDevices / 72,
           "72 GB200 in one NVLink domain per rack, a 400 Gbit/s card per GPU, 4 rails",
           params_of({rate_param("bandwidth", kNvlinkOfB200, "NVLink of a GPU, one way", Source::kPublished,
                                 "18 links of 40.1 GB/s in NCCL's tables; nominal 900 GB/s"),
                      time_param("latency", 936, "GPU to NVSwitch", Source::kModelled, "as measured for H100"),
                      rate_param("c2c", 450'000'000'000, "NVLink C2C of a GPU to its Grace, one way",
                                 Source::kPublished, "nominal"),
                      time_param("c2c-latency", 500, "GPU to network card or Grace", Source::kModelled, "")},
                     ndr_rails),
           build_nvl72}};
}

}  // namespace debubble
