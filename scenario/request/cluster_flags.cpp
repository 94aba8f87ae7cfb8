#include "scenario/request/cluster_flags.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <utility>

#include "formats/text/quantities.hpp"
#include "formats/text/shell.hpp"
#include "formats/topology/topology_file.hpp"
#include "scenario/request/checks.hpp"
#include "scenario/request/rank_lists.hpp"
#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "sim/topologies/catalog.hpp"

namespace debubble {

namespace {

constexpr int kMostClusterRanks = 1 << 22;

int ranks_in_group(const std::optional<int>& flag, const char* name, int most = kMostClusterRanks) {
  const int size = flag.value_or(1);
  if (size < 1 || size > most) {
    fail("C012", name,
         "a number of ranks from 1 to " + std::to_string(most) + " is wanted; got " + std::to_string(size),
         std::string("leave ") + name + " out for 1");
  }
  return size;
}

Parallelism read_group_sizes(const ClusterFlags& flags) {
  Parallelism sizes;
  sizes.tensor = ranks_in_group(flags.tensor, "--tp");
  sizes.context = ranks_in_group(flags.context, "--cp");
  sizes.expert = ranks_in_group(flags.expert, "--ep");
  sizes.data = ranks_in_group(flags.data, "--dp");
  sizes.sequence = flags.sequence_parallel;
  sizes.zero = flags.zero.value_or(0);
  if (std::int64_t{sizes.tensor} * sizes.context > kMostClusterRanks || sizes.ranks() > kMostClusterRanks) {
    fail("C012", "--dp", "more than " + std::to_string(kMostClusterRanks) + " ranks", "use fewer");
  }
  if (sizes.zero < 0 || sizes.zero > 3) {
    fail("C002", "--zero", "the optimizer is sharded in stage 0, 1, 2 or 3; got " + std::to_string(sizes.zero),
         "1: its state, 2: gradients, too, 3: weights, too");
  }
  if (sizes.sequence && sizes.tensor == 1) {
    fail("C004", "--sequence-parallel", "sequences are split over the tensor ranks, and there is one",
         "add --tp 8, or leave --sequence-parallel out");
  }
  const int places = sizes.context * sizes.data;
  if (places % sizes.expert != 0) {
    int near = sizes.expert;
    while (near > 1 && places % near != 0) --near;
    fail("F003", "--ep",
         "experts are split over the context and data ranks: " + std::to_string(sizes.expert) + " does not divide " +
             std::to_string(sizes.context) + " x " + std::to_string(sizes.data),
         "the nearest that fits: --ep " + std::to_string(near));
  }
  return sizes;
}

void read_topology_flag(const ClusterFlags& flags, ClusterScenario& cluster) {
  cluster.topology = flags.topology;
  if (flags.topology == "ideal") return;
  DescribedTopology topology =
      is_topology_file(flags.topology) ? read_topology_file(flags.topology) : describe_topology(flags.topology);
  cluster.graph = std::make_shared<const LinkGraph>(std::move(topology.graph));
  cluster.rates = std::move(topology.assumptions);
}

NetworkModel read_model(const std::string& word) {
  const std::array<std::string, 3> words{"fluid", "fifo", "uncontended"};
  if (word.empty()) return NetworkModel::kFluid;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words.at(k) == word) return static_cast<NetworkModel>(k);
  }
  const std::string guess = closest_name(word, words);
  fail("C002", "--network", "\"" + word + "\" is not one of: fluid, fifo, uncontended",
       guess.empty() ? "write --network fluid" : "did you mean " + guess + "?");
}

// Links that are nobody's have no flows to share them.
void refuse_on_ideal(const ClusterFlags& flags) {
  const auto refuse = [](const std::string& value, const char* name, const char* help) {
    if (!value.empty()) fail("C004", name, "on an ideal topology it would change nothing", help);
  };
  refuse(flags.network, "--network", "add --topology, e.g. --topology dgx-h100:2");
  refuse(flags.transfer_latency, "--transfer-latency", "use --comm, or add --topology");
  refuse(flags.transfer_bandwidth, "--transfer-bandwidth", "use --bandwidth, or add --topology");
  refuse(flags.rank_devices, "--rank-devices", "add --topology: on ideal links every device is like every other");
}

}  // namespace

void add_cluster_flags(CLI::App& verb, ClusterFlags& flags) {
  const std::string group = "Cluster";
  verb.add_option("--topology", flags.topology, "ideal (default); see `debubble list topologies`")
      ->group(group)
      ->type_name("NAME|FILE");
  verb.add_option("--network", flags.network, "fluid (default), fifo or uncontended")->group(group)->type_name("MODEL");
  verb.add_option("--tp", flags.tensor, "tensor-parallel ranks (default: 1)")->group(group)->type_name("N");
  verb.add_option("--cp", flags.context, "context-parallel ranks (default: 1)")->group(group)->type_name("N");
  verb.add_option("--ep", flags.expert, "ranks among which experts are split (default: 1)")
      ->group(group)
      ->type_name("N");
  verb.add_option("--dp", flags.data, "replicas of the pipeline (default: 1)")->group(group)->type_name("N");
  verb.add_option("--zero", flags.zero, "what --dp shards: 0 (default) to 3")->group(group)->type_name("0..3");
  verb.add_flag("--sequence-parallel", flags.sequence_parallel, "split activations over --tp, too")->group(group);
  verb.add_option("--rank-order", flags.rank_order, "nearest first (default: tp,cp,dp,pp)")
      ->group(group)
      ->type_name("LIST");
  verb.add_option("--rank-devices", flags.rank_devices, "devices by rank: 0-7,16-23 (default: 0-)")
      ->group(group)
      ->type_name("LIST");
  verb.add_option("--transfer-latency", flags.transfer_latency, "per transfer, beside links (default: 0)")
      ->group(group)
      ->type_name("TIME");
  verb.add_option("--transfer-bandwidth", flags.transfer_bandwidth, "a rank's transfer never exceeds it")
      ->group(group)
      ->type_name("RATE");
}

ClusterScenario check_cluster(const ClusterFlags& flags) {
  ClusterScenario cluster;
  run_all({[&] { read_topology_flag(flags, cluster); },
           [&] {
             if (flags.topology == "ideal") refuse_on_ideal(flags);
           },
           [&] { cluster.model = read_model(flags.network); }, [&] { cluster.sizes = read_group_sizes(flags); },
           [&] {
             if (!flags.rank_order.empty()) cluster.order = parse_rank_order(flags.rank_order, "--rank-order");
           },
           [&] {
             if (!flags.rank_devices.empty()) {
               cluster.devices = parse_device_list(flags.rank_devices, "--rank-devices");
             }
           },
           [&] {
             if (flags.transfer_latency.empty()) return;
             cluster.message_latency = parse_duration(flags.transfer_latency, "--transfer-latency");
           },
           [&] {
             if (flags.transfer_bandwidth.empty()) return;
             cluster.transfer_bound = parse_bandwidth(flags.transfer_bandwidth, "--transfer-bandwidth");
           }});
  cluster.given = !repeated_cluster_flags(flags).empty();
  return cluster;
}

std::string repeated_cluster_flags(const ClusterFlags& flags) {
  FlagLine line;
  if (flags.topology != "ideal") line.add("--topology", flags.topology);
  line.add("--network", flags.network);
  line.add_number("--tp", flags.tensor);
  line.add_number("--cp", flags.context);
  line.add_number("--ep", flags.expert);
  line.add_number("--dp", flags.data);
  line.add_number("--zero", flags.zero);
  line.add_switch("--sequence-parallel", flags.sequence_parallel);
  line.add("--rank-order", flags.rank_order);
  line.add("--rank-devices", flags.rank_devices);
  line.add("--transfer-latency", flags.transfer_latency);
  line.add("--transfer-bandwidth", flags.transfer_bandwidth);
  return line.text();
}

RankLayout ClusterScenario::layout(int pipeline_devices) const {
  RankLayout layout;
  layout.sizes = sizes;
  layout.sizes.pipeline = pipeline_devices;
  layout.order = order;
  layout.devices = devices;
  return layout;
}

void refuse_cluster(const ClusterScenario& cluster, const std::string& verb) {
  if (!cluster.given) return;
  fail("C087", "--topology", verb + " has real links and one rank per device: a modelled cluster would change nothing",
       "leave --topology, --tp, --dp and what belongs to them out");
}

}  // namespace debubble
