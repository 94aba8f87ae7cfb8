#include "formats/topology/topology_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/files/read_file.hpp"
#include "formats/json/json_reader.hpp"
#include "formats/text/shell.hpp"
#include "formats/text/text.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/link_graph.hpp"
#include "sim/topologies/catalog.hpp"

namespace debubble {
namespace {

// Which routes messages take in a graph that came from a file.

constexpr std::string_view kTopologySchema = "debubble.topology/1";

// By node: whether `start` reaches it along the links, or against them.
std::vector<bool> reached(const LinkGraph& graph, std::int32_t start, bool against) {
  std::vector<std::vector<std::int32_t>> next(graph.nodes.size());
  for (const Link& link : graph.links) {
    at(next, against ? link.to : link.from).push_back(against ? link.from : link.to);
  }
  std::vector<bool> seen(graph.nodes.size());
  std::vector<std::int32_t> open{start};
  at(seen, start) = true;
  while (!open.empty()) {
    const std::int32_t node = open.back();
    open.pop_back();
    for (const std::int32_t other : at(next, node)) {
      if (at(seen, other)) continue;
      at(seen, other) = true;
      open.push_back(other);
    }
  }
  return seen;
}

// What distinguishes the links of two graphs, or "".
std::string difference(const LinkGraph& graph, const LinkGraph& preset) {
  const auto same_node = [](const GraphNode& a, const GraphNode& b) { return a.kind == b.kind && a.name == b.name; };
  const auto same_link = [](const Link& a, const Link& b) { return a.from == b.from && a.to == b.to; };
  if (!std::equal(graph.nodes.begin(), graph.nodes.end(), preset.nodes.begin(), preset.nodes.end(), same_node)) {
    return "other nodes than " + preset.name;
  }
  if (!std::equal(graph.links.begin(), graph.links.end(), preset.links.begin(), preset.links.end(), same_link)) {
    return "other links than " + preset.name;
  }
  return {};
}

// "there is no route from gpu0 to gpu3", or "" where every device reaches every other.
std::string unreachable_device(const LinkGraph& graph) {
  const std::string first = at(graph.nodes, graph.devices.front()).name;
  for (const bool against : {false, true}) {
    const std::vector<bool> seen = reached(graph, graph.devices.front(), against);
    for (const std::int32_t device : graph.devices) {
      if (at(seen, device)) continue;
      const std::string other = at(graph.nodes, device).name;
      return "there is no route from " + (against ? other : first) + " to " + (against ? first : other);
    }
  }
  return {};
}

// Takes the router of the preset, whose nodes and links must be the graph's in name and order; rates and latencies may
// differ. What does not fit, or "".
std::string take_routes_of_preset(const std::string& preset, LinkGraph& graph) {
  try {
    const LinkGraph model = build_topology(preset);
    if (std::string differs = difference(graph, model); !differs.empty()) return "the file has " + differs;
    graph.router = model.router;
    return {};
  } catch (const InputError& error) {
    return error.diagnostics().front().message;
  }
}

// Whether the graph is named after a preset that has its nodes and links.
bool has_routes_of_preset(const LinkGraph& graph) {
  LinkGraph copy = graph;
  return take_routes_of_preset(graph.name, copy).empty();
}

constexpr const char* kDefaultFalse = "leave it out for false";

constexpr JsonDialect kTopologyDialect{
    .what = "topology",
    .description = "docs/topology.schema.json",
    .most_items = kMostJsonValues / 2,
};
constexpr IntegerRule kLinkBandwidth{"bytes per second", 1, kLargestSize,
                                     "50 GB/s is 50000000000; null means unlimited"};
constexpr IntegerRule kLatency{"nanoseconds", 0, 1'000'000'000, "1.5 us is 1500"};
constexpr IntegerRule kDomain{"a domain's number", 0, std::numeric_limits<std::int32_t>::max(),
                              "devices with fast links between them have the same number"};
constexpr std::array<std::string_view, 4> kNodeKinds{"device", "switch", "nic", "host"};
constexpr std::string_view kShortest = "shortest";

class TopologyReader {
 public:
  TopologyReader(std::string_view text, const std::string& name) : text_(text), problems_(name, kTopologyDialect) {}

  DescribedTopology run() {
    const std::optional<JsonValue> root = parse_json(text_, problems_);
    if (root) read(*root);
    problems_.throw_if_any();
    return std::move(topology_);
  }

 private:
  void read(const JsonValue& root) {
    JsonObjectReader top(root, "", problems_);
    if (!top.is_object()) return;
    const std::string schema = top.text("schema");
    if (!schema.empty() && schema != kTopologySchema) {
      top.complain("P010", "schema", "\"schema\" must be \"" + std::string(kTopologySchema) + "\"",
                   "this reader knows no other version");
    }
    topology_.graph.name = top.text("name");
    const std::string source = top.optional_text("source");
    const Source rates = read_rates(top);
    const std::string routes = top.optional_text("routes");
    read_nodes(top);
    read_links(top);
    top.finish();
    topology_.assumptions.push_back({"links", source.empty() ? "of the file" : source, rates});
    if (problems_.empty()) choose_routes(top, routes);
  }

  static Source read_rates(JsonObjectReader& top) {
    const std::string word = top.optional_text("rates");
    constexpr std::array kAll{Source::kMeasured, Source::kPublished, Source::kModelled};
    for (const Source source : kAll) {
      if (word == to_string(source)) return source;
    }
    if (!word.empty()) {
      top.complain("P011", "rates",
                   "\"rates\" must be \"measured\", \"published\" or \"modelled\"; got " + in_quotes(word),
                   "leave it out where nobody says");
    }
    return Source::kGiven;
  }

  void read_nodes(JsonObjectReader& top) {
    const JsonValue* list = top.array("nodes");
    if (list == nullptr) return;
    std::size_t index = 0;
    for (const JsonValue& item : list->children) read_node(item, top.pointer_to("nodes/" + std::to_string(index++)));
    if (topology_.graph.devices.empty()) {
      top.complain("B028", "nodes", "there is no device among the nodes", "give at least one \"kind\": \"device\"");
    }
    if (topology_.graph.device_count() > kMostGraphDevices) {
      top.complain("B028", "nodes", "more than " + std::to_string(kMostGraphDevices) + " devices", "make it smaller");
    }
  }

  void read_node(const JsonValue& item, std::string pointer) {
    JsonObjectReader reader(item, std::move(pointer), problems_);
    LinkGraph& graph = topology_.graph;
    const auto number = static_cast<std::int32_t>(graph.nodes.size());
    GraphNode& node = graph.nodes.emplace_back();
    if (!reader.is_object()) return;
    node.name = reader.text("name");
    const std::string kind = reader.text("kind");
    const auto found = std::find(kNodeKinds.begin(), kNodeKinds.end(), kind);
    if (found != kNodeKinds.end()) {
      node.kind = static_cast<GraphNode::Kind>(found - kNodeKinds.begin());
    } else if (!kind.empty()) {
      reader.complain("P011", "kind",
                      "\"kind\" must be \"device\", \"switch\", \"nic\" or \"host\"; got " + in_quotes(kind),
                      "every node that forwards only is a switch");
    }
    if (node.kind == GraphNode::Kind::kDevice) {
      graph.devices.push_back(number);
      graph.domain.push_back(static_cast<std::int32_t>(reader.optional_integer("domain", kDomain).value_or(0)));
    }
    if (node.kind == GraphNode::Kind::kSwitch) node.reduces = reader.optional_flag("reduces", kDefaultFalse);
    reader.finish();
    if (!node.name.empty() && !numbers_.emplace(node.name, number).second) {
      reader.complain("B028", "name", "there are two nodes " + in_quotes(node.name), "links name nodes: no name twice");
    }
  }

  void read_links(JsonObjectReader& top) {
    const JsonValue* list = top.array("links");
    if (list == nullptr) return;
    std::size_t index = 0;
    for (const JsonValue& item : list->children) read_link(item, top.pointer_to("links/" + std::to_string(index++)));
  }

  void read_link(const JsonValue& item, std::string pointer) {
    JsonObjectReader reader(item, std::move(pointer), problems_);
    if (!reader.is_object()) return;
    Link link;
    const std::string from = reader.text("from");
    const std::string to = reader.text("to");
    link.from = node_named(reader, "from", from);
    link.to = node_named(reader, "to", to);
    link.bandwidth = reader.integer_or_null("bandwidth_bytes_per_s", kLinkBandwidth);
    link.latency = reader.integer("latency_ns", kLatency);
    link.shared = reader.optional_flag("shared", "leave it out for true", true);
    const bool both = reader.optional_flag("both", kDefaultFalse);
    reader.finish();
    if (link.from == link.to && !from.empty() && from == to) {
      reader.complain("B028", "to", "a link must not end where it begins", "what stays on a device needs no link");
    }
    link.name = from + ">" + to;
    topology_.graph.links.push_back(link);
    if (!both) return;
    std::swap(link.from, link.to);
    link.name = to + ">" + from;
    topology_.graph.links.push_back(std::move(link));
  }

  std::int32_t node_named(JsonObjectReader& reader, std::string_view key, const std::string& name) {
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    if (!name.empty()) {
      reader.complain("B028", key, "there is no node " + in_quotes(name), "\"nodes\" must list it");
    }
    return 0;
  }

  void choose_routes(JsonObjectReader& top, const std::string& routes) {
    LinkGraph& graph = topology_.graph;
    if (const std::string lonely = unreachable_device(graph); !lonely.empty()) {
      top.complain("B028", "links", printable(lonely), "join all devices in both directions: \"both\": true");
      return;
    }
    if (routes.empty() || routes == kShortest) {
      graph.router = shortest_paths(graph);
    } else if (const std::string problem = take_routes_of_preset(routes, graph); !problem.empty()) {
      top.complain(
          "B028", "routes", problem,
          "a file that was exported keeps the preset's nodes and links, in order; \"shortest\" fits every file");
    }
  }

  std::string_view text_;
  ProblemList problems_;
  DescribedTopology topology_;
  std::unordered_map<std::string, std::int32_t> numbers_;  // of nodes, by name
};

}  // namespace

bool is_topology_file(std::string_view name) {
  // Not that of a parameter's unit: "ring:4,bandwidth=50GB/s".
  return name.ends_with(".json") || name.substr(0, name.find(':')).find('/') != std::string_view::npos;
}

DescribedTopology read_topology(std::string_view text, const std::string& name) {
  return TopologyReader(text, name).run();
}

DescribedTopology read_topology_file(const std::string& path) {
  return read_topology(read_file(path, "--topology"), path);
}

void write_topology(const LinkGraph& graph, const std::function<void(std::string_view)>& write) {
  const auto name = [&](std::int32_t node) { return json_string(at(graph.nodes, node).name); };
  write("{\n  \"schema\": " + json_string(kTopologySchema) + ",\n  \"name\": " + json_string(graph.name) + ",\n");
  write("  \"routes\": " + json_string(has_routes_of_preset(graph) ? graph.name : std::string(kShortest)) + ",\n");
  write("  \"nodes\": [\n");
  std::size_t device = 0;
  for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
    const GraphNode& node = graph.nodes[k];
    std::string line = "    {\"name\": " + name(static_cast<std::int32_t>(k)) +
                       ", \"kind\": " + json_string(kNodeKinds.at(static_cast<std::size_t>(node.kind)));
    if (node.kind == GraphNode::Kind::kDevice) line += ", \"domain\": " + std::to_string(graph.domain[device++]);
    if (node.reduces) line += ", \"reduces\": true";
    write(line + (k + 1 < graph.nodes.size() ? "},\n" : "}\n"));
  }
  write("  ],\n  \"links\": [\n");
  for (std::size_t k = 0; k < graph.links.size(); ++k) {
    const Link& link = graph.links[k];
    std::string line =
        "    {\"from\": " + name(link.from) + ", \"to\": " + name(link.to) +
        ", \"bandwidth_bytes_per_s\": " + (link.bandwidth == 0 ? "null" : std::to_string(link.bandwidth)) +
        ", \"latency_ns\": " + std::to_string(link.latency);
    if (!link.shared) line += ", \"shared\": false";
    write(line + (k + 1 < graph.links.size() ? "},\n" : "}\n"));
  }
  write("  ]\n}\n");
}

}  // namespace debubble
