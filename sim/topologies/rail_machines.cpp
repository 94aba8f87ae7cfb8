#include "sim/topologies/rail_machines.hpp"

#include <memory>
#include <vector>

#include "sim/core/at.hpp"

namespace debubble {

namespace {

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

}  // namespace

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

}  // namespace debubble
