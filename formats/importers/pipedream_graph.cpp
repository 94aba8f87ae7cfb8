#include "formats/importers/pipedream_graph.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "formats/importers/pipedream_node.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

struct EdgeLine {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::size_t line = 0;
};

class GraphParser {
 public:
  explicit GraphParser(ProblemList& problems) : problems_(problems) {}

  void read_line(std::string_view line, std::size_t number) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) return;
    if (line.starts_with('\t')) {
      read_edge(line.substr(1), number);
    } else {
      read_node(line, number);
    }
  }

  PipedreamGraph finish() {
    PipedreamGraph graph;
    std::map<std::int64_t, std::size_t> index_of;
    for (auto& [number, node] : nodes_) {
      index_of[number] = graph.nodes.size();
      graph.nodes.push_back(std::move(node));
    }
    for (const EdgeLine& edge : edges_) connect(edge, index_of, graph);
    for (PipedreamNode& node : graph.nodes) std::sort(node.successors.begin(), node.successors.end());
    return graph;
  }

 private:
  [[nodiscard]] std::string place(std::size_t line) const { return problems_.name() + ":" + std::to_string(line); }

  void read_node(std::string_view line, std::size_t number) {
    std::optional<PipedreamNode> node = parse_node(line, place(number), problems_);
    if (!node) {
      // Its name may still be good: an edge to it would only repeat the complaint.
      if (const auto broken = node_number(line.substr(0, line.find(' ')))) broken_.insert(*broken);
      return;
    }
    node->line = number;
    const auto [position, added] = nodes_.emplace(node->number, std::move(*node));
    if (added) return;
    const PipedreamNode& first = position->second;
    problems_.add("G004", place(number),
                  first.name() + " is described twice, first in line " + std::to_string(first.line),
                  "keep one of the two lines");
  }

  void read_edge(std::string_view text, std::size_t number) {
    const std::vector<std::string_view> ends = split_fields(text, " -- ");
    const auto from = node_number(ends.front());
    const auto to = node_number(ends.back());
    if (ends.size() != 2 || !from || !to) {
      problems_.add("G002", place(number), "not an edge: " + in_quotes(text),
                    "an edge line reads: <TAB>node1 -- node2");
    } else if (*from == *to) {
      problems_.add("G014", place(number), "node" + std::to_string(*from) + " depends on itself", "remove the edge");
    } else if (!seen_edges_.emplace(*from, *to).second) {
      problems_.add("G004", place(number), "this edge appears twice: " + std::string(text),
                    "keep one of the two lines");
    } else {
      edges_.push_back({*from, *to, number});
    }
  }

  void connect(const EdgeLine& edge, const std::map<std::int64_t, std::size_t>& index_of, PipedreamGraph& graph) {
    const auto from = index_of.find(edge.from);
    const auto to = index_of.find(edge.to);
    if (from == index_of.end()) complain_unknown(edge.from, edge.line);
    if (to == index_of.end()) complain_unknown(edge.to, edge.line);
    if (from == index_of.end() || to == index_of.end()) return;
    PipedreamNode& target = graph.nodes[to->second];
    if (target.is_input()) {
      problems_.add("G014", place(edge.line), "an edge leads into " + target.name() + ", which is an Input",
                    "inputs are sources: turn the edge round or remove it");
      return;
    }
    graph.nodes[from->second].successors.push_back(to->second);
    ++target.predecessors;
  }

  void complain_unknown(std::int64_t number, std::size_t line) {
    if (broken_.contains(number)) return;
    problems_.add("G014", place(line), "no line describes node" + std::to_string(number),
                  "add the node's line or remove the edge");
  }

  ProblemList& problems_;
  std::map<std::int64_t, PipedreamNode> nodes_;
  std::set<std::int64_t> broken_;
  std::vector<EdgeLine> edges_;
  std::set<std::pair<std::int64_t, std::int64_t>> seen_edges_;
};

}  // namespace

bool PipedreamNode::is_input() const {
  constexpr std::string_view kInput = "Input";
  const std::string_view text = description;
  return text.starts_with(kInput) && text.find_first_not_of("0123456789", kInput.size()) == std::string_view::npos;
}

PipedreamGraph parse_pipedream(std::string_view text, ProblemList& problems) {
  if (const auto bad = first_bad_utf8(text)) {
    problems.add("P002", place_of(problems.name(), text, *bad), "not UTF-8 text",
                 "PipeDream's graph.txt is plain text; is this the right file?");
    return {};
  }
  GraphParser parser(problems);
  std::size_t number = 0;
  for (const std::string_view line : split_fields(text, "\n")) parser.read_line(line, ++number);
  return parser.finish();
}

}  // namespace debubble
