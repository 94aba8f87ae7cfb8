// The graphs in tests/planners/pipedream, as PipeDream's profiler wrote them: times in ms, sizes in bytes.
//
//     node4 -- MaxPool2d(...) -- forward_compute_time=0.756, backward_compute_time=1.148, activation_size=47775744.000,
//              parameter_size=0.000                                                        (one line)
//     <TAB>node3 -- node4
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "studies/planners/antichains.hpp"
#include "tests/support/places.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {

// The number behind `key` in a line; of a list, as in [20.0; 4.0], the sum.
inline double number_of_field(const std::string& line, const std::string& key) {
  const std::size_t at = line.find(key + "=");
  if (at == std::string::npos) throw std::logic_error("no " + key + " in: " + line);
  std::istringstream rest(line.substr(line.find_first_not_of('[', at + key.size() + 1)));
  double sum = 0;
  for (double value = 0; rest >> value && (sum += value, rest.peek() == ';');) rest.get();
  return sum;
}

inline PipedreamGraph recorded_graph(const std::string& model) {
  std::map<int, PipedreamNode> nodes;
  std::vector<std::pair<int, int>> edges;
  std::istringstream text(contents_of(source_directory() + "/tests/planners/pipedream/" + model + ".txt"));
  for (std::string line; std::getline(text, line);) {
    const int number = std::stoi(line.substr(line.find("node") + 4));
    const std::size_t begin = line.find(" -- ") + 4;
    if (line.starts_with('\t')) {
      edges.emplace_back(number, std::stoi(line.substr(begin + 4)));
      continue;
    }
    PipedreamNode& node = nodes[number];
    node.number = number;
    node.description = line.substr(begin, line.find(" -- ", begin) - begin);
    node.forward = std::llround(number_of_field(line, "forward_compute_time") * 1e6);
    node.backward = std::llround(number_of_field(line, "backward_compute_time") * 1e6);
    node.activation = std::llround(number_of_field(line, "activation_size"));
    node.parameters = std::llround(number_of_field(line, "parameter_size"));
  }
  std::sort(edges.begin(), edges.end());
  const auto place = [&](int number) {
    return static_cast<std::size_t>(std::distance(nodes.begin(), nodes.find(number)));
  };
  for (const auto& [from, to] : edges) nodes.at(from).successors.push_back(place(to));
  PipedreamGraph graph;
  for (auto& [number, node] : nodes) graph.nodes.push_back(std::move(node));
  return graph;
}

}  // namespace debubble::testing
