#include "tests/support/reference_cluster.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace debubble::reference {

namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr double kNothing = 1e-6;  // nanoseconds: less than this is rounding

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::vector<double> fair_rates(const std::vector<double>& capacity, const std::vector<bool>& shared,
                               const std::vector<FairFlow>& flows) {
  std::vector<double> rates(flows.size(), 0);
  std::vector<bool> rising(flows.size(), true);
  const auto used = [&](std::size_t l, bool of_rising) {
    double sum = 0;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (of_rising && !rising[f]) continue;
      for (const LinkShare& share : flows[f].links) {
        if (at(share.link) == l) sum += share.weight * (of_rising ? 1 : rates[f]);
      }
    }
    return sum;
  };
  // How far all rising flows may go before the flow is at its bound or at what a link gives it alone.
  const auto room = [&](std::size_t f) {
    double most = flows[f].bound > 0 ? flows[f].bound : kForever;  // NOLINT(*-narrowing-conversions): both double
    for (const LinkShare& share : flows[f].links) {
      if (capacity[at(share.link)] > 0) most = std::min(most, capacity[at(share.link)] / share.weight);
    }
    return most - rates[f];
  };
  while (std::find(rising.begin(), rising.end(), true) != rising.end()) {
    double step = kForever;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (rising[f]) step = std::min(step, room(f));
    }
    for (std::size_t l = 0; l < capacity.size(); ++l) {
      const double asked = capacity[l] > 0 && shared[l] ? used(l, true) : 0;
      if (asked > 0) step = std::min(step, std::max(0.0, capacity[l] - used(l, false)) / asked);
    }
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (rising[f]) rates[f] += step;
    }
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (rising[f] && room(f) <= 1e-12 * rates[f]) rising[f] = false;
    }
    for (std::size_t l = 0; l < capacity.size(); ++l) {
      if (capacity[l] <= 0 || !shared[l] || capacity[l] - used(l, false) > 1e-12 * capacity[l]) continue;
      for (std::size_t f = 0; f < flows.size(); ++f) {
        for (const LinkShare& share : flows[f].links) {
          if (at(share.link) == l) rising[f] = false;
        }
      }
    }
  }
  return rates;
}

std::vector<double> fair_rates(const LinkGraph& graph, const std::vector<FlowPath>& paths) {
  std::vector<double> capacity;
  std::vector<bool> shared;
  for (const Link& link : graph.links) {
    capacity.push_back(static_cast<double>(link.bandwidth) / 1e9);
    shared.push_back(link.shared);
  }
  std::vector<FairFlow> flows;
  for (const FlowPath& path : paths) flows.push_back({path.links, static_cast<double>(path.bound) / 1e9});
  return fair_rates(capacity, shared, flows);
}

std::vector<Nanoseconds> flow_ends(const LinkGraph& graph, const std::vector<Flow>& flows,
                                   const std::vector<Nanoseconds>& begins) {
  std::vector<Nanoseconds> ends(flows.size(), -1);
  std::vector<double> left;
  for (const Flow& flow : flows) left.push_back(static_cast<double>(flow.bytes));
  for (Nanoseconds now = *std::min_element(begins.begin(), begins.end());;) {
    std::vector<FlowPath> active;
    std::vector<std::size_t> number;
    double next = kForever;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (begins[f] > now) next = std::min(next, static_cast<double>(begins[f] - now));
      if (begins[f] > now || ends[f] >= 0) continue;
      active.push_back(flows[f].path);
      number.push_back(f);
    }
    const std::vector<double> rates = fair_rates(graph, active);
    for (std::size_t a = 0; a < active.size(); ++a) {
      next = std::min(next, std::max(1.0, std::ceil(left[number[a]] / rates[a] - kNothing)));
    }
    if (next == kForever) return ends;
    now += static_cast<Nanoseconds>(next);
    for (std::size_t a = 0; a < active.size(); ++a) {
      left[number[a]] -= rates[a] * next;
      if (left[number[a]] <= rates[a] * kNothing) ends[number[a]] = now;
    }
  }
}

}  // namespace debubble::reference
