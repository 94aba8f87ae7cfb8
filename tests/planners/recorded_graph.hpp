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
#include <vector>

#include "studies/planners/job.hpp"
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

// Its nodes but the input, of a graph in which all others are on one path.
inline PlannerJob recorded_chain(const std::string& model) {
  std::map<int, PlannerLayer> nodes;
  std::map<int, std::vector<int>> after;
  std::map<int, int> waiting;
  int input = 0;
  std::istringstream text(contents_of(source_directory() + "/tests/planners/pipedream/" + model + ".txt"));
  for (std::string line; std::getline(text, line);) {
    const int number = std::stoi(line.substr(line.find("node") + 4));
    const std::size_t begin = line.find(" -- ") + 4;
    if (line.starts_with('\t')) {
      after[number].push_back(std::stoi(line.substr(begin + 4)));
      ++waiting[after[number].back()];
    } else if (line.substr(begin).starts_with("Input")) {
      input = number;
    } else {
      PlannerLayer& layer = nodes[number];
      layer.forward = std::llround(number_of_field(line, "forward_compute_time") * 1e6);
      layer.backward = std::llround(number_of_field(line, "backward_compute_time") * 1e6);
      layer.activation = std::llround(number_of_field(line, "activation_size"));
      layer.parameters = std::llround(number_of_field(line, "parameter_size"));
    }
  }
  PlannerJob job;
  std::vector<int> open{input};  // whose output somebody behind needs
  for (int node = input; !after[node].empty();) {
    int next = 0;
    for (const int one : after[node]) {
      if (--waiting[one] == 0) next = one;
    }
    if (next == 0) throw std::logic_error(model + " is no chain");
    node = next;
    PlannerLayer& layer = nodes.at(node);
    open.push_back(node);
    std::erase_if(open, [&](int one) {
      return one == input ||
             std::all_of(after[one].begin(), after[one].end(), [&](int user) { return waiting[user] == 0; });
    });
    for (const int one : open) layer.output += nodes.at(one).activation;
    if (after[node].empty()) layer.output = layer.activation;
    job.layers.push_back(layer);
  }
  return job;
}

}  // namespace debubble::testing
