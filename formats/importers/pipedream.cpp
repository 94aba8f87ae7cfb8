#include "formats/importers/pipedream.hpp"

#include <algorithm>
#include <utility>

#include "formats/importers/pipedream_chain.hpp"
#include "formats/importers/pipedream_graph.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/profile/layer_runs.hpp"
#include "formats/text/text.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

// "resnet50" of "profiles/resnet50/graph.txt", "mine" of "profiles/mine.txt".
std::string model_name(const std::string& path) {
  std::string_view rest = path;
  const auto last_part = [&rest] { return rest.substr(rest.rfind('/') + 1); };  // npos + 1 is 0: the whole
  std::string_view file = last_part();
  if (file == "graph.txt" && file.size() < rest.size()) {
    rest.remove_suffix(file.size() + 1);
    if (!last_part().empty() && last_part() != "." && last_part() != "..") file = last_part();
  }
  if (file.ends_with(".txt")) file.remove_suffix(4);
  return file.empty() || first_bad_utf8(file) ? "pipedream" : std::string(file);
}

// "Conv2d" of "Conv2d(3, 64, kernel_size=(11, 11))".
std::string layer_kind(const PipedreamNode& node) { return node.description.substr(0, node.description.find('(')); }

void add_bounded(std::int64_t& sum, std::int64_t addend, std::int64_t most, const PipedreamNode& node,
                 ProblemList& problems) {
  if (addend > most - sum) {
    problems.add("X001", problems.name() + ":" + std::to_string(node.line),
                 "the layer that ends with this node is too large",
                 "no sum of a layer may be beyond " + std::to_string(most));
    return;
  }
  sum += addend;
}

ProfileLayer layer_from(const PipedreamGraph& graph, const LayerNodes& nodes, ProblemList& problems) {
  ProfileLayer layer;
  layer.name = graph.nodes[nodes.front()].name();
  if (nodes.size() > 1) layer.name += ".." + graph.nodes[nodes.back()].name();
  layer.backward.emplace();
  for (const std::size_t index : nodes) {
    const PipedreamNode& node = graph.nodes[index];
    layer.kind += (layer.kind.empty() ? "" : "+") + layer_kind(node);
    add_bounded(layer.forward.median, node.forward, kLongestDuration, node, problems);
    add_bounded(layer.backward->median, node.backward, kLongestDuration, node, problems);
    add_bounded(layer.activation, node.activation, kLargestSize, node, problems);
    add_bounded(layer.parameters, node.parameters, kLargestSize, node, problems);
  }
  return layer;
}

// The profiler writes no batch size, but the fp32 images of a single Input give it away; 0 when they do not.
std::int64_t samples_per_microbatch(const PipedreamGraph& graph) {
  constexpr Bytes kImage = Bytes{3} * 224 * 224 * 4;
  constexpr Bytes kInceptionImage = Bytes{3} * 299 * 299 * 4;
  const auto is_input = [](const PipedreamNode& node) { return node.is_input(); };
  if (std::count_if(graph.nodes.begin(), graph.nodes.end(), is_input) != 1) return 0;
  const Bytes input = std::find_if(graph.nodes.begin(), graph.nodes.end(), is_input)->activation;
  if (input % kImage == 0) return input / kImage;
  return input % kInceptionImage == 0 ? input / kInceptionImage : 0;
}

std::string milliseconds(Nanoseconds time) {
  const std::string micros = std::to_string(time / 1000 % 1000);
  return std::to_string(time / kNanosecondsPerMillisecond) + "." + std::string(3 - micros.size(), '0') + micros + " ms";
}

std::string node_times(const PipedreamNode& node) {
  return node.name() + " (" + layer_kind(node) + ", forward " + milliseconds(node.forward) + ", backward " +
         milliseconds(node.backward) + ")";
}

void note_inputs(const PipedreamGraph& graph, std::vector<std::string>& notes) {
  std::size_t count = 0;
  Nanoseconds time = 0;
  for (const PipedreamNode& node : graph.nodes) {
    if (!node.is_input()) continue;
    ++count;
    time = std::min(time, kLongestDuration) + node.forward;
  }
  notes.push_back("dropped " + counted(count, "Input node") + ": " + milliseconds(time) +
                  " of data loading, no part of the model");
}

// Times that cannot be right, from what is known about these files; they are kept as they are.
void note_suspects(const PipedreamGraph& graph, const std::vector<std::size_t>& order,
                   std::vector<std::string>& notes) {
  bool first = true;
  for (const std::size_t index : order) {
    const PipedreamNode& node = graph.nodes[index];
    if (node.forward == 0 && node.backward == 0) continue;
    if (std::exchange(first, false) && node.forward > node.backward) {
      notes.push_back(node_times(node) + " ran first: its forward time probably includes the libraries' warm-up");
    }
    if (node.parameters > 0 && node.backward < node.forward / 100) {
      notes.push_back(node_times(node) + " has parameters and hardly any backward: the profiler missed it");
    }
  }
}

void note_assumptions(const PipedreamGraph& graph, std::size_t nodes, std::size_t layers, std::int64_t samples,
                      std::vector<std::string>& notes) {
  if (layers < nodes) {
    notes.push_back(counted(nodes, "node") + " make " + counted(layers, "layer") +
                    ": nodes that take no time stay with the layer before them");
  }
  notes.push_back(samples > 0
                      ? "microbatch size " + std::to_string(samples) + " worked out from the Input's fp32 images"
                      : "microbatch size unknown: the file does not name it");
  notes.emplace_back("activations kept for backward are the sums of the layers' outputs, an upper bound");
  if (std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) { return node.has_stage; })) {
    notes.emplace_back("stage_id fields are ignored: give --partition to cut the chain");
  }
}

ProfileOrigin origin_of(const std::vector<std::string>& notes) {
  ProfileOrigin origin;
  origin.times = Source::kMeasured;
  origin.memory = Source::kModelled;
  origin.device = "V100 (the file does not name the GPU; the PipeDream paper profiles on V100)";
  origin.method = "PipeDream's profiler: one time per module and direction, of PyTorch modules run eagerly in fp32";
  origin.citation =
      "Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN Training, SOSP 2019; graph.txt of its "
      "profiler";
  for (const std::string& note : notes) origin.notes += (origin.notes.empty() ? "" : "; ") + note;
  return origin;
}

}  // namespace

PipedreamImport import_pipedream(std::string_view text, const std::string& name) {
  ProblemList problems(name);
  const PipedreamGraph graph = parse_pipedream(text, problems);
  if (graph.nodes.size() > kMostLayers) {
    problems.add("P017", name, "more than " + std::to_string(kMostLayers) + " nodes", "no model has that many layers");
  }
  problems.throw_if_any();
  const std::vector<std::size_t> order = execution_order(graph, problems);
  problems.throw_if_any();
  const std::vector<LayerNodes> layers = layers_of(graph, order);
  const std::vector<Bytes> boundaries = boundary_bytes(graph, layers, problems);

  PipedreamImport result;
  result.nodes_in_file = static_cast<int>(graph.nodes.size());
  result.nodes_placed = static_cast<int>(order.size());
  Profile& profile = result.profile;
  profile.model = model_name(name);
  profile.dtype = "fp32";
  profile.microbatch_size = samples_per_microbatch(graph);
  for (std::size_t k = 0; k < layers.size(); ++k) {
    profile.layers.push_back(layer_from(graph, layers[k], problems));
    profile.layers.back().output = boundaries[k];
  }
  problems.throw_if_any();
  note_inputs(graph, result.notes);
  note_assumptions(graph, order.size(), layers.size(), profile.microbatch_size, result.notes);
  note_suspects(graph, order, result.notes);
  profile.origin = origin_of(result.notes);
  return result;
}

}  // namespace debubble
