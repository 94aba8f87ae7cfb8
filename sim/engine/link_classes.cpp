#include "sim/engine/link_classes.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <unordered_map>

#include "sim/core/at.hpp"

namespace debubble {

namespace {

constexpr double kBytesPerNanosecond = 1e-9;  // of bytes per second

struct Crossing {
  std::int32_t way = 0;
  double weight = 1;

  friend bool operator==(const Crossing&, const Crossing&) = default;
};

// Which ways cross each link that can fill up.
std::vector<std::vector<Crossing>> crossings_of(const LinkGraph& graph, const std::vector<FlowPath>& ways) {
  std::vector<std::vector<Crossing>> crossings(graph.links.size());
  for (std::size_t w = 0; w < ways.size(); ++w) {
    for (const LinkShare& share : ways[w].links) {
      const Link& link = at(graph.links, share.link);
      if (!link.shared || link.bandwidth == 0) continue;
      at(crossings, share.link).push_back({static_cast<std::int32_t>(w), share.weight});
    }
  }
  return crossings;
}

std::uint64_t hash_of(const std::vector<Crossing>& crossings) {
  std::uint64_t hash = crossings.size();
  for (const Crossing& crossing : crossings) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    hash = (hash ^ static_cast<std::uint64_t>(crossing.way)) * kOdd;
    hash ^= hash >> 29;
  }
  return hash;
}

double fastest_of(const LinkGraph& graph, const FlowPath& path) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const LinkShare& share : path.links) {
    const std::int64_t bandwidth = at(graph.links, share.link).bandwidth;
    if (bandwidth == 0) continue;
    fastest = std::min(fastest, static_cast<double>(bandwidth) * kBytesPerNanosecond / share.weight);
  }
  if (path.bound != 0) fastest = std::min(fastest, static_cast<double>(path.bound) * kBytesPerNanosecond);
  return fastest;
}

}  // namespace

LinkClasses classify_links(const LinkGraph& graph, const std::vector<FlowPath>& ways) {
  LinkClasses classes;
  for (const FlowPath& way : ways) classes.ways.push_back({{}, fastest_of(graph, way)});
  std::vector<std::vector<Crossing>> crossings = crossings_of(graph, ways);
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> known;  // classes by hash
  std::vector<std::int32_t> member;                                    // by class: a link of it
  for (std::size_t l = 0; l < crossings.size(); ++l) {
    if (crossings[l].empty()) continue;
    // In terms of the first way: a link whose flows all weigh twice as much is one of half the capacity.
    const double unit = crossings[l].front().weight;
    for (Crossing& crossing : crossings[l]) crossing.weight /= unit;
    const double capacity = static_cast<double>(graph.links[l].bandwidth) * kBytesPerNanosecond / unit;
    std::vector<std::int32_t>& candidates = known[hash_of(crossings[l])];
    const auto same = std::find_if(candidates.begin(), candidates.end(),
                                   [&](std::int32_t c) { return at(crossings, at(member, c)) == crossings[l]; });
    if (same != candidates.end()) {
      at(classes.capacity, *same) = std::min(at(classes.capacity, *same), capacity);
      continue;
    }
    const auto made = static_cast<std::int32_t>(classes.capacity.size());
    candidates.push_back(made);
    member.push_back(static_cast<std::int32_t>(l));
    classes.capacity.push_back(capacity);
    for (const Crossing& crossing : crossings[l]) {
      at(classes.ways, crossing.way).classes.push_back({made, crossing.weight});
    }
  }
  return classes;
}

}  // namespace debubble
