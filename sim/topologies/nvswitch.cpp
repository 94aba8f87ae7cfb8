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

#include "sim/core/nvlink_rates.hpp"
#include "sim/topologies/presets.hpp"
#include "sim/topologies/rail_machines.hpp"

namespace debubble {

namespace {

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
