#include "formats/importers/partitioning.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "formats/importers/pipedream_chain.hpp"
#include "formats/importers/pipedream_graph.hpp"
#include "formats/json/json_reader.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "sim/core/at.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr JsonDialect kPartitioningDialect{
    .what = "layer graph",
    .description = "formats/importers/partitioning.hpp",
};
constexpr IntegerRule kGraphNumber{"nodes", 0, 1'000'000'000, "nodes and classes are numbered from 0 or 1"};
// No layer graph has more nodes; sums of so many of the largest numbers below stay within 64 bits.
constexpr std::size_t kMostGraphNodes = 10'000;
constexpr double kMostGraphSeconds = 400;
constexpr double kMostGraphBytes = 4e11;

// A node of the file, by its own number.
struct PartitioningNode {
  PipedreamNode node;
  std::int64_t color = 0;
  bool backward = false;
  Bytes size = 0;    // all that it holds
  Bytes kept = 0;    // of a microbatch, for its backward
  Bytes output = 0;  // the largest of its edges
  std::vector<std::int64_t> readers;
};

struct ReadGraph {
  bool piper = false;
  std::map<std::int64_t, PartitioningNode> nodes;  // by id
};

class PartitioningReader {
 public:
  PartitioningReader(std::string_view text, const std::string& name)
      : text_(text), problems_(name, kPartitioningDialect) {}

  ReadGraph run() {
    const std::optional<JsonValue> tree = parse_json(text_, problems_);
    problems_.throw_if_any();
    JsonObjectReader reader(*tree, "", problems_);
    problems_.throw_if_any();
    graph_.piper = reader.member("maxDevices", false) != nullptr;
    if (!graph_.piper && reader.member("maxFPGAs", false) == nullptr) {
      reader.complain("P006", "", "neither \"maxFPGAs\" (dnn-partitioning) nor \"maxDevices\" (Piper) is there",
                      "is this the input of one of these planners?");
      problems_.throw_if_any();
    }
    for (const char* const key :
         {"maxSizePerFPGA", "maxCPUs", "maxMemoryPerDevice", "bandwidth", "mbsInBatch", "notes"}) {
      static_cast<void>(reader.member(key, false));  // of the cluster, which flags describe here
    }
    each(reader, "nodes", [&](const JsonValue& value, const std::string& pointer) { read_node(value, pointer); });
    problems_.throw_if_any();
    each(reader, "edges", [&](const JsonValue& value, const std::string& pointer) { read_edge(value, pointer); });
    reader.finish();
    problems_.throw_if_any();
    if (!graph_.piper) join_backwards();
    problems_.throw_if_any();
    return std::move(graph_);
  }

 private:
  template <typename Read>
  void each(JsonObjectReader& reader, const char* key, const Read& read) {
    const JsonValue* list = reader.array(key);
    if (list == nullptr) return;
    if (list->children.size() > 16 * kMostGraphNodes || (key[0] == 'n' && list->children.size() > kMostGraphNodes)) {
      reader.complain("P017", key, "more than " + std::to_string(kMostGraphNodes) + " nodes, or 16 edges for each",
                      "no model has that many layers");
      return;
    }
    for (std::size_t k = 0; k < list->children.size(); ++k) {
      read(list->children[k], reader.pointer_to(key) + "/" + std::to_string(k));
    }
  }

  // A number from 0 to `most`, in the file's unit.
  double amount(JsonObjectReader& reader, const char* key, double most) {
    const JsonValue* value = reader.member(key, true);
    if (value == nullptr) return 0;
    const bool is_number = value->kind == JsonValue::Kind::kInteger || value->kind == JsonValue::Kind::kFraction;
    const std::optional<double> number = is_number ? number_of(value->text) : std::nullopt;
    const double amount = number.has_value() ? *number : -1;
    if (amount >= 0 && amount <= most) return amount;
    reader.complain("P004", key, in_quotes(key) + " must be a number of at least 0; got " + describe(*value),
                    "the largest is " + std::to_string(static_cast<std::int64_t>(most)));
    return 0;
  }

  void add(PartitioningNode node, JsonObjectReader& reader) {
    const std::int64_t id = node.node.number;
    if (graph_.nodes.emplace(id, std::move(node)).second) return;
    reader.complain("P012", "id", "there is another node " + std::to_string(id), "number each of them once");
  }

  void read_node(const JsonValue& value, const std::string& pointer) {
    JsonObjectReader reader(value, pointer, problems_);
    if (!reader.is_object()) return;
    PartitioningNode made;
    made.node.number = reader.integer("id", kGraphNumber);
    made.node.description = reader.text("name");
    if (graph_.piper) {
      read_piper_node(reader, made);
    } else {
      made.backward = reader.integer("isBackwardNode", {"0 or 1", 0, 1, "1 for a node of the backward"}) == 1;
      made.color = reader.integer("colorClass", kGraphNumber);
      const auto time =
          static_cast<Nanoseconds>(std::llround(amount(reader, "fpgaLatency", kMostGraphSeconds * 1e3) * 1e6));
      (made.backward ? made.node.backward : made.node.forward) = time;
      made.size = std::llround(amount(reader, "size", kMostGraphBytes));
      for (const char* const key : {"supportedOnFpga", "cpuLatency"}) static_cast<void>(reader.member(key, false));
    }
    reader.finish();
    add(std::move(made), reader);
  }

  void read_piper_node(JsonObjectReader& reader, PartitioningNode& made) {
    const JsonValue* degrees = reader.member("TMPCs", true);
    if (degrees == nullptr) return;
    const JsonValue* vanilla = nullptr;
    for (const JsonValue& degree : degrees->children) {
      if (degree.key != "1") continue;
      for (const JsonValue& way : degree.children) {
        for (const JsonValue& member : way.children) {
          if (member.key == "id" && member.text == "vanilla") vanilla = &way;
        }
      }
    }
    if (vanilla == nullptr) {
      reader.complain("P006", "TMPCs", "there is no way to run the node on 1 device called \"vanilla\"",
                      R"(write "TMPCs": {"1": [{"id": "vanilla", "timePerSample": 0.03, ...}]})");
      return;
    }
    JsonObjectReader way(*vanilla, reader.pointer_to("TMPCs") + "/1", problems_);
    const auto time = static_cast<Nanoseconds>(std::llround(amount(way, "timePerSample", kMostGraphSeconds) * 1e9));
    made.node.forward = time / 3;
    made.node.backward = time - made.node.forward;
    made.node.parameters = std::llround(amount(way, "parameterSize", kMostGraphBytes));
    made.kept = std::llround(amount(way, "memoryUsageA", kMostGraphBytes));
  }

  void read_edge(const JsonValue& value, const std::string& pointer) {
    JsonObjectReader reader(value, pointer, problems_);
    if (!reader.is_object()) return;
    const std::int64_t from = reader.integer("sourceId", kGraphNumber);
    const std::int64_t to = reader.integer("destId", kGraphNumber);
    const Bytes size = std::llround(amount(reader, graph_.piper ? "communicationCost" : "size", kMostGraphBytes));
    if (!graph_.piper) static_cast<void>(reader.member("cost", false));
    reader.finish();
    for (const auto& [key, id] : {std::pair("sourceId", from), std::pair("destId", to)}) {
      if (graph_.nodes.count(id) == 0) {
        reader.complain("P012", key, "there is no node " + std::to_string(id), "name nodes of the file");
        return;
      }
    }
    PartitioningNode& source = graph_.nodes.at(from);
    if (source.backward || graph_.nodes.at(to).backward) return;  // the mirror image of the forward
    source.output = std::max(source.output, size);
    if (std::find(source.readers.begin(), source.readers.end(), to) == source.readers.end()) {
      source.readers.push_back(to);
    }
  }

  // Each backward node's time belongs to the forward node of its class.
  void join_backwards() {
    std::map<std::int64_t, std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>> classes;
    for (const auto& [id, node] : graph_.nodes) {
      auto& [ahead, back] = classes[node.color];
      (node.backward ? back : ahead).push_back(id);
    }
    for (const auto& [color, both] : classes) {
      if (both.first.size() == 1 && both.second.size() == 1) {
        graph_.nodes.at(both.first.front()).node.backward = graph_.nodes.at(both.second.front()).node.backward;
        continue;
      }
      problems_.add("P016", problems_.name() + "#/nodes",
                    "class " + std::to_string(color) + " has " + counted(both.first.size(), "forward node") + " and " +
                        counted(both.second.size(), "backward node"),
                    "a training graph has one of each; graphs of inference have no backward to be planned");
    }
    std::erase_if(graph_.nodes, [](const auto& one) { return one.second.backward; });
  }

  std::string_view text_;
  ProblemList problems_;
  ReadGraph graph_;
};

// Nothing to compute and nothing to learn, and nothing comes before: the model's data.
bool is_data(const PartitioningNode& one) {
  return one.node.forward + one.node.backward == 0 && one.node.parameters == 0 && one.node.predecessors == 0;
}

// In the form of PipeDream's graphs, whose rules of chains hold.
// `kept` is by node.
PipedreamGraph as_pipedream(ReadGraph& read, std::vector<Bytes>& kept) {
  for (auto& [id, one] : read.nodes) {
    for (const std::int64_t reader : one.readers) ++read.nodes.at(reader).node.predecessors;
  }
  std::map<std::int64_t, std::size_t> index;
  PipedreamGraph graph;
  kept.push_back(0);
  graph.nodes.emplace_back();  // a source of data before all others: every chain begins with one
  graph.nodes.front().number = -1;
  graph.nodes.front().description = "Input";
  for (auto& [id, one] : read.nodes) {
    index[id] = graph.nodes.size();
    if (read.piper) {
      if (is_data(one)) one.node.description = "Input";
    } else {
      one.node.description.clear();  // a name says nothing of what a node is
      one.kept = one.output;
      one.node.parameters = std::max<Bytes>(0, one.size - one.output);
    }
    one.node.activation = one.output;
    kept.push_back(one.kept);
    graph.nodes.push_back(one.node);
  }
  for (const auto& [id, one] : read.nodes) {
    for (const std::int64_t reader : one.readers) graph.nodes[index[id]].successors.push_back(index[reader]);
  }
  for (PipedreamNode& node : graph.nodes) std::sort(node.successors.begin(), node.successors.end());
  return graph;
}

std::string file_name(const std::string& path) {
  std::string_view file = std::string_view(path).substr(path.rfind('/') + 1);
  if (file.ends_with(".json")) file.remove_suffix(5);
  return file.empty() || first_bad_utf8(file) ? "layer graph" : std::string(file);
}

ProfileLayer layer_of_nodes(const PipedreamGraph& graph, const LayerNodes& nodes, const std::vector<Bytes>& kept,
                            bool piper) {
  ProfileLayer layer;
  layer.name = graph.nodes[nodes.front()].name();
  if (nodes.size() > 1) layer.name += ".." + graph.nodes[nodes.back()].name();
  layer.backward.emplace();
  for (const std::size_t index : nodes) {
    const PipedreamNode& node = graph.nodes[index];
    if (piper) layer.kind += (layer.kind.empty() ? "" : "+") + node.description;
    layer.forward.median += node.forward;
    layer.backward->median += node.backward;
    layer.activation += kept[index];
    layer.parameters += node.parameters;
  }
  return layer;
}

ProfileOrigin origin_of_graph(bool piper, const std::vector<std::string>& notes) {
  ProfileOrigin origin;
  origin.times = Source::kPublished;
  origin.memory = Source::kPublished;
  origin.device = piper ? "A100 (the file does not name the GPU; Piper's paper profiles on A100)"
                        : "the file's accelerator (the files of the repository are PipeDream's profiles of V100)";
  origin.method = piper ? "input of Piper: one time per layer" : "input of dnn-partitioning: one time per node";
  origin.citation =
      piper ? "Tarnawski, Narayanan, Phanishayee: Piper: Multidimensional Planner for DNN Parallelization, NeurIPS 2021"
            : "Tarnawski et al., Efficient Algorithms for Device Placement of DNN Graph Operators, NeurIPS 2020";
  for (const std::string& note : notes) origin.notes += (origin.notes.empty() ? "" : "; ") + note;
  return origin;
}

std::vector<std::string> notes_of_graph(const ReadGraph& read, std::size_t nodes, std::size_t layers) {
  std::vector<std::string> notes;
  if (layers < nodes) {
    notes.push_back(counted(nodes, "node") + " make " + counted(layers, "layer") +
                    ": nodes that take no time stay with the layer before them");
  }
  notes.emplace_back("microbatch size unknown, and 32-bit numbers assumed: the file names neither");
  if (read.piper) {
    notes.emplace_back("forward is taken as a third of each time and backward as the rest: the file has their sum");
    notes.emplace_back("one device, not recomputed: tensor-parallel times and what they exchange are dropped");
    notes.emplace_back("memoryUsageB is dropped: gradients and optimizer follow from the weights, as in every profile");
  } else {
    notes.emplace_back("weights are what a node holds beside its largest output; CPU times are dropped");
  }
  return notes;
}

}  // namespace

PipedreamImport import_partitioning(std::string_view text, const std::string& name) {
  ReadGraph read = PartitioningReader(text, name).run();
  ProblemList problems(name, kPartitioningDialect);
  std::vector<Bytes> kept;
  const PipedreamGraph graph = as_pipedream(read, kept);
  ProblemList of_lines(name, kPartitioningDialect);  // speaks of a graph.txt; what is wrong here is said below
  const std::vector<std::size_t> order = execution_order(graph, of_lines);
  const auto inputs =
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const PipedreamNode& node) { return node.is_input(); });
  if (order.size() + to_index(inputs) < graph.nodes.size()) {
    problems.add("G017", name + "#/edges", "nodes wait for each other", "a layer graph has no cycles; remove an edge");
  } else if (order.empty()) {
    problems.add("P016", name + "#/nodes", "the graph has no layers", "give it a node that takes time");
  }
  problems.throw_if_any();
  const std::vector<LayerNodes> layers = layers_of(graph, order);
  const std::vector<Bytes> boundaries = boundary_bytes(graph, layers, problems);
  problems.throw_if_any();
  PipedreamImport result;
  result.nodes_in_file = static_cast<int>(graph.nodes.size()) - 1;
  result.nodes_placed = static_cast<int>(order.size());
  result.profile.model = file_name(name);
  result.profile.dtype = "fp32";
  for (std::size_t k = 0; k < layers.size(); ++k) {
    result.profile.layers.push_back(layer_of_nodes(graph, layers[k], kept, read.piper));
    result.profile.layers.back().output = boundaries[k];
  }
  result.notes = notes_of_graph(read, order.size(), layers.size());
  result.profile.origin = origin_of_graph(read.piper, result.notes);
  return result;
}

}  // namespace debubble
