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
  std::int32_t route = 0;
  double weight = 1;

  friend bool operator==(const Crossing&, const Crossing&) = default;
};

// Phase 1: which routes cross each link that can fill up. Links that are not shared, or without a limit, slow a flow
// down at most by itself, which fastest_of already counts.
std::vector<std::vector<Crossing>> crossings_of(const LinkGraph& graph, const std::vector<FlowPath>& routes) {
  std::vector<std::vector<Crossing>> crossings(graph.links.size());
  for (std::size_t r = 0; r < routes.size(); ++r) {
    for (const LinkShare& share : routes[r].links) {
      const Link& link = at(graph.links, share.link);
      if (!link.shared || link.bandwidth == 0) continue;
      at(crossings, share.link).push_back({static_cast<std::int32_t>(r), share.weight});
    }
  }
  return crossings;
}

// Of the routes only, not of their weights: those are doubles, and which are equal is for the comparison to say.
std::uint64_t hash_of(const std::vector<Crossing>& crossings) {
  std::uint64_t hash = crossings.size();
  for (const Crossing& crossing : crossings) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    hash = (hash ^ static_cast<std::uint64_t>(crossing.route)) * kOdd;
    hash ^= hash >> 29;
  }
  return hash;
}

// What a route gets alone: its tightest link, or the bound of its own.
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

// Phase 2: links with the same crossings are one class. If the same flows take the same shares of two links, the one
// with less capacity is full first, so the other never limits anything: max-min rates stay exactly the same.
LinkClasses classify_links(const LinkGraph& graph, const std::vector<FlowPath>& routes) {
  LinkClasses classes;
  for (const FlowPath& route : routes) classes.routes.push_back({{}, fastest_of(graph, route)});
  std::vector<std::vector<Crossing>> crossings = crossings_of(graph, routes);
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> known;  // classes by hash
  std::vector<std::int32_t> member;                                    // by class: a link of it
  for (std::size_t l = 0; l < crossings.size(); ++l) {
    if (crossings[l].empty()) continue;
    // In terms of the first route: a link whose flows all weigh twice as much is one of half the capacity.
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
      at(classes.routes, crossing.route).classes.push_back({made, crossing.weight});
    }
  }
  return classes;
}

}  // namespace debubble
