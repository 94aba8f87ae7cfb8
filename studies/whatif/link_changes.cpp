#include "studies/whatif/link_changes.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "scenario/request/checks.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/split.hpp"
#include "sim/topologies/changes.hpp"
#include "sim/topologies/graph_builder.hpp"
#include "sim/topologies/routers.hpp"

namespace debubble {

namespace {

constexpr const char* kLinkHelp = "write it like --link 3-4:x0.5, --link '3>4:latency=x2' or --link 3-4:latency=50us";
constexpr double kLargestRate = 1e6;

// "x0.5" or nothing.
std::optional<double> times_factor(const std::string& text) {
  if (!text.starts_with("x")) return std::nullopt;
  const std::optional<double> value = number_of(std::string_view(text).substr(1));
  return value && *value >= 0 && *value <= kLargestRate ? value : std::nullopt;
}

LinkChange parse_link(const std::string& text) {
  const auto refuse = [&](std::string message) {
    throw InputError(Diagnostic{"C006", "--link", std::move(message), kLinkHelp});
  };
  LinkChange change;
  const std::size_t colon = text.find(':');
  change.link = text.substr(0, colon);
  if (colon == std::string::npos || change.link.empty()) refuse("\"" + text + "\" is not LINK:CHANGE");
  for (const std::string& part : split(std::string_view(text).substr(colon + 1), ',')) {
    constexpr std::string_view kLatency = "latency=";
    if (part.starts_with(kLatency)) {
      const std::string value = part.substr(kLatency.size());
      const std::optional<double> factor = times_factor(value);
      if (factor) change.latency = *factor;
      if (!factor) change.latency_is = parse_duration(value, "--link", BareNumber::kToyUnits);
      continue;
    }
    const std::optional<double> factor = times_factor(part);
    if (!factor || *factor <= 0) refuse("\"" + part + "\" is neither xFACTOR above 0 nor latency=");
    change.bandwidth = *factor;
  }
  return change;
}

// "3>4": the route of a message between two devices, in one direction; the rest as everywhere.
std::vector<std::int32_t> find_links(const LinkGraph& graph, const LinkChange& change) {
  if (!change.numbers.empty()) return change.numbers;
  const std::string flag = change.cut ? "--fail" : "--link";
  const std::size_t arrow = change.link.find('>');
  if (arrow == std::string::npos) return links_named(graph, change.link, flag);
  const auto from = count_of(change.link.substr(0, arrow));
  const auto to = count_of(change.link.substr(arrow + 1));
  if (!from || !to) return links_named(graph, change.link, flag);
  if (std::max(*from, *to) >= graph.device_count() || *from == *to) {
    throw InputError(Diagnostic{"B008", flag, "\"" + change.link + "\" is not a pair of devices",
                                "two different numbers from 0 to " + std::to_string(graph.device_count() - 1)});
  }
  std::vector<std::int32_t> links;
  graph.router->route(static_cast<std::int32_t>(*from), static_cast<std::int32_t>(*to), links);
  return links;
}

std::int64_t scaled_value(std::int64_t value, double factor) {
  return std::llround(std::min(static_cast<double>(value) * factor, static_cast<double>(kLargestSize)));
}

// What of a change was no empty word.
struct Effect {
  bool bandwidth = false;
  bool latency = false;
  bool cut = false;
};

void change_link(const LinkChange& change, Link& link, Effect& effect) {
  const Link before = link;
  link.cut = link.cut || change.cut;
  if (link.bandwidth > 0) link.bandwidth = std::max<std::int64_t>(1, scaled_value(link.bandwidth, change.bandwidth));
  link.latency = change.latency_is ? *change.latency_is : scaled_value(link.latency, change.latency);
  effect.cut = effect.cut || link.cut != before.cut;
  effect.bandwidth = effect.bandwidth || link.bandwidth != before.bandwidth;
  effect.latency = effect.latency || link.latency != before.latency;
}

// Each part of a change must change something, or it is a misunderstanding.
void check_effect(const LinkChange& change, const Effect& effect) {
  const auto refuse = [&](const char* flag, const std::string& why, const char* help) {
    throw InputError(Diagnostic{"O024", flag, to_string(change) + " changes nothing: " + why, help});
  };
  const bool all = change.link.empty();
  if (change.cut && !effect.cut) refuse("--fail", "it failed already", "name each link once");
  if (change.bandwidth != 1 && !effect.bandwidth) {
    refuse(all ? "--bandwidth-scale" : "--link", "the bandwidth is unlimited",
           "give a bandwidth (--bandwidth with a profile, or a --topology), or change the latency");
  }
  const bool latency = change.latency_is || change.latency != 1;
  if (latency && !effect.latency) {
    refuse(all ? "--latency" : "--link", change.latency_is ? "it is so already" : "there is no latency to multiply",
           "give a latency, e.g. --comm 0.1, or set it: --link 3-4:latency=50us");
  }
  if (!change.cut && change.bandwidth == 1 && !latency) {
    refuse("--link", "a factor of 1 leaves all as it is", "give a factor other than 1");
  }
}

}  // namespace

std::shared_ptr<Network> ideal_network(const Topology& topology, int devices, int replicas) {
  constexpr int kMostDevices = 1024;  // a million links
  if (devices > kMostDevices) {
    fail("X005", "--link", "the ideal links of " + std::to_string(devices) + " devices are too many",
         "use at most " + std::to_string(kMostDevices) + " devices, or a --topology");
  }
  GraphBuilder builder;
  for (int device = 0; device < devices; ++device) builder.add_device(0);
  for (int from = 0; from < devices; ++from) {
    for (int to = 0; to < devices; ++to) {
      if (from != to) builder.add_link(from, to, {topology.bandwidth(), topology.latency()});
    }
  }
  auto network = std::make_shared<Network>();
  network->graph = builder.finish("ideal", fully_connected_router(devices));
  for (Link& link : network->graph.links) link.name = std::to_string(link.from) + ">" + std::to_string(link.to);
  network->layout.sizes.pipeline = devices;
  network->layout.sizes.data = replicas;
  for (int device = 0; device < devices; ++device) {
    network->layout.devices.insert(network->layout.devices.end(), static_cast<std::size_t>(replicas), device);
  }
  network->model = NetworkModel::kUncontended;
  return network;
}

std::vector<std::int32_t> links_of(const LinkGraph& graph, const LinkChange& change) {
  if (!change.link.empty()) return find_links(graph, change);
  std::vector<std::int32_t> all(graph.links.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<LinkChange> parse_links(const std::vector<std::string>& texts) {
  std::vector<LinkChange> changes;
  Checks checks;
  for (const std::string& text : texts) {
    checks.run([&] { changes.push_back(parse_link(text)); });
  }
  checks.finish();
  return changes;
}

std::vector<LinkChange> parse_failures(const std::vector<std::string>& words) {
  std::vector<LinkChange> changes;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const bool alone = words[k] == "link" && k + 1 < words.size();
    const std::string name = alone                                                            ? words[++k]
                             : words[k].starts_with("link=") || words[k].starts_with("link ") ? words[k].substr(5)
                                                                                              : words[k];
    if (name == "link" || name.find_first_of("->") == std::string::npos) {
      throw InputError(Diagnostic{"C006", "--fail", "\"" + name + "\" names no link", "write it like --fail link 3-4"});
    }
    LinkChange change;
    change.link = name;
    change.cut = true;
    changes.push_back(std::move(change));
  }
  return changes;
}

double parse_scale(const std::string& text, const char* flag) {
  const bool latency = flag == std::string_view("--latency");
  const std::optional<double> factor = times_factor(text);
  if (factor && *factor == 1) {
    throw InputError(Diagnostic{"O024", flag, "\"" + text + "\" changes nothing: a factor of 1 leaves all as it is",
                                "give a factor other than 1"});
  }
  if (factor && (latency || *factor > 0)) return *factor;
  throw InputError(
      Diagnostic{"C006", flag, "\"" + text + "\" is not xFACTOR, at most x" + plain(kLargestRate),
                 latency ? "write it like --latency x2, or x0 for none" : "write it like --bandwidth-scale x2"});
}

std::string to_string(const LinkChange& change) {
  const std::string name = change.link.empty() ? "all links" : "link " + change.link;
  if (change.cut) return name + " failed";
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? " at " : " and ") + more; };
  if (change.bandwidth != 1) add(plain(change.bandwidth) + " times the bandwidth");
  if (change.latency_is) {
    add("a latency of " + format_duration_exact(*change.latency_is));
  } else if (change.latency != 1) {
    add(plain(change.latency) + " times the latency");
  }
  return name + text;
}

Topology changed_topology(const Topology& topology, const std::vector<LinkChange>& changes, int devices, int replicas) {
  if (changes.empty()) return topology;
  const bool all = std::all_of(changes.begin(), changes.end(), [](const auto& change) { return change.link.empty(); });
  if (all && topology.network() == nullptr) {
    Link link;
    link.bandwidth = topology.bandwidth();
    link.latency = topology.latency();
    for (const LinkChange& change : changes) {
      Effect effect;
      change_link(change, link, effect);
      check_effect(change, effect);
    }
    return Topology::ideal(link.latency, link.bandwidth)
        .with_gather(topology.gather())
        .calibrated(topology.transfer_scale());
  }
  auto network = topology.network() == nullptr ? ideal_network(topology, devices, replicas)
                                               : std::make_shared<Network>(*topology.network());
  for (const LinkChange& change : changes) {
    Effect effect;
    if (change.link.empty()) {
      for (Link& link : network->graph.links) change_link(change, link, effect);
      const Nanoseconds before = network->message_latency;
      network->message_latency = scaled_value(before, change.latency);
      effect.latency = effect.latency || network->message_latency != before;
    } else {
      const std::vector<std::int32_t> links = find_links(network->graph, change);
      for (const std::int32_t k : links) change_link(change, at(network->graph.links, k), effect);
      if (change.cut) network->graph = without_links(network->graph, links);
    }
    check_effect(change, effect);
  }
  return topology.with_network(std::move(network));
}

}  // namespace debubble
