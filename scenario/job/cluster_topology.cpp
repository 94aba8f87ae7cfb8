#include "scenario/job/cluster_topology.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "cost_models/collectives/measured.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "sim/topologies/catalog.hpp"

namespace debubble {

namespace {

std::string group_sizes_text(const Parallelism& sizes) {
  std::string text;
  const auto add = [&](const char* name, int size) {
    if (size > 1) text += std::string(text.empty() ? "" : ", ") + name + " " + std::to_string(size);
  };
  add("tp", sizes.tensor);
  add("cp", sizes.context);
  add("ep", sizes.expert);
  if (sizes.expert_tensor > 0) text += (text.empty() ? "" : ", ") + ("etp " + std::to_string(sizes.expert_tensor));
  add("dp", sizes.data);
  add("pp", sizes.pipeline);
  return text.empty() ? "one rank" : text;
}

std::string order_text(const std::vector<Dimension>& order) {
  std::string text;
  for (const Dimension one : order) text += (text.empty() ? "" : ",") + std::string(to_string(one));
  return text;
}

// Each size that would fit with the others as they are, and the cluster that would do.
std::string nearest(const RankLayout& layout, const ClusterScenario& cluster, std::int64_t room) {
  const Parallelism& sizes = layout.sizes;
  std::string text;
  const auto offer = [&](const char* flag, std::int64_t size) {
    const std::int64_t most = room / (sizes.ranks() / size);
    if (size > 1 && most >= 1) text += (text.empty() ? "" : ", ") + (flag + (" " + std::to_string(most)));
  };
  offer("--dp", sizes.data);
  offer("-p", sizes.pipeline);
  offer("--tp", sizes.tensor);
  offer("--cp", sizes.context);
  const std::size_t colon = cluster.topology.find(':');
  const TopologyEntry* entry = find_topology(cluster.topology.substr(0, colon));
  if (cluster.devices.empty() && entry != nullptr && !entry->units.empty()) {
    const auto per_unit = [&] {
      const std::size_t after =
          std::min(cluster.topology.find(',', std::min(colon, cluster.topology.size())), cluster.topology.size());
      const std::string typed =
          colon < cluster.topology.size() ? cluster.topology.substr(colon + 1, after - colon - 1) : std::string();
      const bool number = !typed.empty() && typed.find_first_not_of("0123456789") == std::string::npos;
      return cluster.graph->device_count() / (number ? std::stoll(typed) : entry->default_units);
    }();
    const std::int64_t units = (sizes.ranks() + per_unit - 1) / per_unit;
    if (units <= entry->most_units) {
      text += (text.empty() ? "" : ", or ") + ("--topology " + entry->name + ":" + std::to_string(units));
    }
  }
  return text.empty() ? "use a larger cluster" : "at most " + text;
}

void check_ideal_flags(const Scenario& scenario) {
  std::vector<Diagnostic> found;
  const auto refuse = [&](bool given, const char* flag, const char* param) {
    if (!given) return;
    found.push_back({"C009", flag, std::string(flag) + " speaks of ideal links, and the cluster has its own",
                     std::string("give it as a parameter, e.g. --topology ring:4,") + param});
  };
  refuse(scenario.comm.has_value(), "--comm", "latency=1us, or as --transfer-latency");
  refuse(scenario.bandwidth.has_value(), "--bandwidth", "bandwidth=25GB/s");
  if (!found.empty()) throw InputError(std::move(found));
}

// The largest message that a rank sends to the next stage: what the last layer hands on goes nowhere.
Bytes largest_message(const Profile& profile) {
  Bytes largest = 0;
  for (std::size_t k = 0; k + 1 < profile.layers.size(); ++k) largest = std::max(largest, profile.layers[k].output);
  return largest;
}

// The first two neighbours in the pipeline, of the first replica, that have a domain in common, or that have not.
std::optional<std::pair<std::int32_t, std::int32_t>> neighbours(const Network& network, bool inside) {
  const RankLayout& layout = network.layout;
  const std::vector<std::int32_t>& domain = network.graph.domain;
  for (int stage = 0; stage + 1 < layout.sizes.pipeline; ++stage) {
    const std::int32_t from = layout.device(0, 0, 0, stage);
    const std::int32_t to = layout.device(0, 0, 0, stage + 1);
    if ((at(domain, from) == at(domain, to)) == inside) return std::pair{from, to};
  }
  return std::nullopt;
}

MessageRate rate_of(const Network& network, const MeasuredTime& time, Bytes bytes, std::int32_t from, std::int32_t to) {
  std::vector<std::int32_t> route;
  network.graph.router->route(from, to, route);
  Nanoseconds latency = 0;
  std::int64_t slowest = 0;
  for (const std::int32_t number : route) {
    const Link& link = at(network.graph.links, number);
    latency += link.latency;
    if (slowest == 0 || link.bandwidth < slowest) slowest = link.bandwidth;
  }
  constexpr double kNanosecondsPerSecond = 1e9;
  const double reached =
      static_cast<double>(bytes) * kNanosecondsPerSecond / static_cast<double>(time.total - time.latency);
  return {std::max<Nanoseconds>(0, time.latency - latency), std::min(1.0, reached / static_cast<double>(slowest))};
}

// Messages between stages as NCCL's were measured on a preset's machines, where its links are those of the preset.
void set_message_rates(const Scenario& scenario, Network& network, std::vector<Assumption>& assumptions) {
  const ClusterScenario& cluster = scenario.cluster;
  const auto machine = measured_machine(network.graph.name);
  const bool own = cluster.message_latency != 0 || cluster.transfer_bound != 0;
  const bool preset = std::any_of(cluster.rates.begin(), cluster.rates.end(),
                                  [&](const Assumption& rate) { return measured_machine(rate.subject) == machine; });
  if (!machine || !preset || own || !scenario.profile || cluster.model == NetworkModel::kFifo) return;
  const Bytes bytes = largest_message(*scenario.profile);
  if (bytes == 0) return;
  // A communicator that leaves a machine gives each message all channels, as one of two ranks does.
  const int ranks = neighbours(network, false) ? 2 : network.layout.sizes.pipeline;
  for (const bool inside : {true, false}) {
    const auto pair = neighbours(network, inside);
    const bool changed = std::any_of(cluster.rates.begin(), cluster.rates.end(), [&](const Assumption& rate) {
      return rate.source == Source::kGiven && rate.key == (inside ? "bandwidth" : "nic");
    });
    const auto time =
        measured_transfer(*machine, inside ? TransferReach::kNear : TransferReach::kFar, inside ? ranks : 2, bytes);
    if (!pair || changed || !time) continue;
    MessageRate& rate = inside ? network.inside : network.across;
    rate = rate_of(network, *time, bytes, pair->first, pair->second);
    const bool other = !inside && *machine != MeasuredMachine::kH100 && *machine != MeasuredMachine::kH200;
    assumptions.push_back({.key = inside ? "transfers within a machine" : "transfers between machines",
                           .amount = format_duration_exact(time->total) + " for a message of " + format_size(bytes),
                           .source = other ? Source::kModelled : Source::kPublished,
                           .citation = std::string("NCCL's send and receive, measured ") +
                                       (other ? "between H100 machines" : "on such machines") + ": " +
                                       (inside && ranks > 2 ? "openxla/xla" : "microsoft/vidur")});
  }
}

}  // namespace

void check_job_fits(const Scenario& scenario, int devices) {
  check_ideal_flags(scenario);
  check_ranks_fit(scenario.cluster, devices);
}

void check_ranks_fit(const ClusterScenario& cluster, int devices_in_pipeline) {
  constexpr std::int64_t kMostRanks = 1 << 30;  // ranks are counted in 32 bits
  if (std::int64_t{devices_in_pipeline} > kMostRanks / cluster.sizes.ranks()) {
    throw InputError(Diagnostic{"C012", "--devices", "more than " + std::to_string(kMostRanks) + " ranks",
                                "use fewer devices, or smaller --tp, --cp and --dp"});
  }
  if (cluster.graph == nullptr) return;
  const RankLayout layout = cluster.layout(devices_in_pipeline);
  const std::int32_t devices = cluster.graph->device_count();
  for (const std::int32_t device : layout.devices) {
    if (device < devices) continue;
    throw InputError(Diagnostic{"B015", "--rank-devices", cluster.topology + " has no GPU " + std::to_string(device),
                                "its GPUs are 0 to " + std::to_string(devices - 1)});
  }
  const std::int64_t room = layout.devices.empty() ? devices : static_cast<std::int64_t>(layout.devices.size());
  if (layout.sizes.ranks() <= room) return;
  throw InputError(Diagnostic{"B017", layout.devices.empty() ? "--topology" : "--rank-devices",
                              group_sizes_text(layout.sizes) + " are " + std::to_string(layout.sizes.ranks()) +
                                  " ranks, and " +
                                  (layout.devices.empty() ? cluster.topology + " has " + std::to_string(room) + " GPUs"
                                                          : std::to_string(room) + " GPUs are named"),
                              nearest(layout, cluster, room)});
}

std::vector<Assumption> rank_assumptions(const ClusterScenario& cluster, int devices) {
  std::vector<Assumption> made;
  if (!cluster.given) return made;
  const RankLayout layout = cluster.layout(devices);
  std::string text = group_sizes_text(layout.sizes) + ": " + std::to_string(layout.sizes.ranks()) + " ranks";
  if (cluster.graph != nullptr) {
    text += " on " + std::to_string(cluster.graph->device_count()) + " GPUs, nearest first " + order_text(layout.order);
  }
  assume(made, "ranks", text, Source::kGiven);
  if (layout.sizes.sequence) assume(made, "sequence parallelism", "over the tensor ranks", Source::kGiven);
  if (layout.sizes.zero > 0) {
    const std::array<const char*, 4> sharded{"", "optimizer state", "optimizer state and gradients",
                                             "optimizer state, gradients and weights"};
    const bool alone = layout.sizes.data * layout.sizes.context == 1;
    assume(made, "sharded over the data ranks",
           std::string(sharded.at(static_cast<std::size_t>(layout.sizes.zero))) +
               (alone ? ": nothing, as there is one (--dp 1)" : ""),
           Source::kGiven);
  }
  return made;
}

Assumed<Topology> cluster_topology(const Scenario& scenario, int devices) {
  Assumed<Topology> made;
  const ClusterScenario& cluster = scenario.cluster;
  check_job_fits(scenario, devices);
  auto network = std::make_shared<Network>();
  network->layout = cluster.layout(devices);
  network->graph = *cluster.graph;
  network->model = cluster.model;
  network->message_latency = cluster.message_latency;
  network->transfer_bound = cluster.transfer_bound;
  assume(made.assumptions, assumption_key::kTopology, cluster.topology, Source::kGiven);
  const std::int64_t idle = network->graph.device_count() - network->layout.sizes.ranks();
  if (idle > 0) {
    assume(made.assumptions, "idle GPUs",
           std::to_string(idle) + " of the topology's " + std::to_string(network->graph.device_count()) +
               ": the job has " + counted(network->layout.sizes.ranks(), "rank"),
           Source::kDefault);
  }
  const std::array<const char*, 3> models{"fluid: flows on a link share it max-min fairly",
                                          "fifo: whole messages, one after the other, stored at every hop",
                                          "uncontended: every flow as if it were alone"};
  assume(made.assumptions, "network", models.at(static_cast<std::size_t>(cluster.model)),
         given_or_default(cluster.model != NetworkModel::kFluid));
  append(made.assumptions, cluster.rates);
  set_message_rates(scenario, *network, made.assumptions);
  assume(made.assumptions, "transfer latency in addition to the links", format_duration_exact(cluster.message_latency),
         given_or_default(cluster.message_latency != 0));
  made.assumptions.back().changes_result = cluster.message_latency != 0;
  if (cluster.transfer_bound != 0) {
    assume(made.assumptions, "bound of a rank's transfer", format_size(cluster.transfer_bound) + "/s", Source::kGiven);
  }
  made.value = Topology::over(std::move(network));
  return made;
}

}  // namespace debubble
