#include "scenario/request/cluster_flags.hpp"

#include <algorithm>
#include <utility>

#include "formats/topology/topology_file.hpp"
#include "scenario/request/catalog_names.hpp"
#include "scenario/request/checks.hpp"
#include "scenario/request/flag_row.hpp"
#include "scenario/request/rank_lists.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
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

// Experts' ranks are those of a stage, dealt anew; with as many for an expert as there are tensor ranks, the others
// are.
void check_expert_ranks(const ClusterFlags& flags, Parallelism& sizes) {
  const int split = ranks_in_group(flags.expert_tensor, "--etp");
  const std::int64_t all = sizes.copies() * sizes.tensor;
  if (flags.expert_tensor && split != sizes.tensor) sizes.expert_tensor = split;
  if (all % sizes.split_of_expert() != 0) {
    fail("F003", "--etp",
         std::to_string(split) + " ranks for an expert do not divide the " + std::to_string(all) + " of a stage",
         "use --etp 1, or add replicas: --dp " + std::to_string(split));
  }
  const auto places = static_cast<int>(all / sizes.split_of_expert());
  if (places % sizes.expert == 0) return;
  int near = sizes.expert;
  while (near > 1 && places % near != 0) --near;
  const std::string of = sizes.expert_tensor > 0
                             ? "the ranks of a stage, " + std::to_string(split) + " for each expert: "
                             : "the context and data ranks: ";
  fail("F003", "--ep",
       "experts are split over " + of + std::to_string(sizes.expert) + " does not divide " +
           (sizes.expert_tensor > 0 ? std::to_string(places)
                                    : std::to_string(sizes.context) + " x " + std::to_string(sizes.data)),
       sizes.data == 1 && near == 1 ? "add replicas: --dp " + std::to_string(sizes.expert)
                                    : "the nearest that fits: --ep " + std::to_string(near));
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
  check_expert_ranks(flags, sizes);
  return sizes;
}

void read_topology_flag(const ClusterFlags& flags, ClusterScenario& cluster) {
  cluster.topology = flags.topology;
  if (flags.topology == "ideal") return;
  const auto describe = [&] {
    DescribedTopology topology =
        is_topology_file(flags.topology) ? read_topology_file(flags.topology) : describe_topology(flags.topology);
    auto known = std::make_shared<KnownTopology>();
    known->graph = std::move(topology.graph);
    known->rates = std::move(topology.assumptions);
    return known;
  };
  const bool kept = flags.known != nullptr;
  const KnownTopologies::Known known = kept ? flags.known->get(flags.topology, describe) : describe();
  cluster.graph = std::shared_ptr<const LinkGraph>(known, &known->graph);
  if (kept) cluster.known = known;
  cluster.rates = known->rates;
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
FlagRows flag_rows(ClusterFlags& flags) {
  const FlagGroup row("Cluster");
  // Links that are nobody's have no flows to share them.
  constexpr const char* kOnIdeal = "on an ideal topology it would change nothing";
  return {
      row("--topology", "NAME|FILE", "topology: ideal (default), see `list topologies`", &flags.topology,
          topology_names, Preset{"ideal"}, FlagForm::kCommas),
      row("--network", "MODEL", "link sharing: fluid (default), fifo, uncontended", &flags.network,
          OneOf{"fluid|fifo|uncontended"},
          needs({"--topology"}, kOnIdeal, "add --topology, e.g. --topology dgx-h100:2")),
      row("--tp", "N", "tensor-parallel ranks", &flags.tensor, Default{"1"}),
      row("--cp", "N", "context-parallel ranks", &flags.context, Default{"1"}),
      row("--ep", "N", "expert-parallel ranks", &flags.expert, Default{"1"}),
      row("--etp", "N", "ranks that split an expert", &flags.expert_tensor, Default{"as --tp"}),
      row("--dp", "N", "replicas of the pipeline", &flags.data, Default{"1"}),
      row("--zero", "0..3", "ZeRO stage of --dp: 0 (default) to 3", &flags.zero),
      row("--sequence-parallel", "sequence parallelism over the --tp ranks", &flags.sequence_parallel),
      row("--rank-order", "LIST", "rank order, nearest first", &flags.rank_order, Default{"tp,cp,dp,pp"},
          FlagForm::kCommas),
      row("--rank-devices", "LIST", "GPUs by rank: 0-7,16-23", &flags.rank_devices, Default{"0-"}, FlagForm::kCommas,
          needs({"--topology"}, kOnIdeal, "add --topology: on ideal links all GPUs are alike")),
      row("--transfer-latency", FlagUnit::kDuration, "latency per transfer, on top of links", &flags.transfer_latency,
          Default{"0"}, needs({"--topology"}, kOnIdeal, "use --comm, or add --topology")),
      row("--transfer-bandwidth", FlagUnit::kBandwidth, "bandwidth limit of a rank's transfer",
          &flags.transfer_bandwidth, needs({"--topology"}, kOnIdeal, "use --bandwidth, or add --topology")),
  };
}

ClusterScenario check_cluster(const ClusterFlags& flags) {
  ClusterFlags copy = flags;
  const FlagRows rows = flag_rows(copy);
  ClusterScenario cluster;
  run_all({[&] { read_topology_flag(flags, cluster); },
           [&] { cluster.model = static_cast<NetworkModel>(word_index(rows, "--network")); },
           [&] { cluster.sizes = read_group_sizes(flags); },
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
  cluster.given = std::any_of(rows.begin(), rows.end(), is_given);
  return cluster;
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
