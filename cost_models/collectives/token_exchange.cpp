#include "cost_models/collectives/token_exchange.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "cost_models/collectives/measured.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

// What the libraries reach, as shares of a preset's links: of 370.8, 721.8 and 721.8 GB/s of NVLink, of a card's 48.
struct ExchangeRates {
  double near;
  double far;
  Nanoseconds latency;
};
constexpr double kFarShare = 45.0 / 48;
constexpr ExchangeRates kOnHopper{310 / 370.8, kFarShare, 60'000};
constexpr ExchangeRates kOnBlackwell{330 / 721.8, kFarShare, 50'000};
constexpr ExchangeRates kOnNvl72{475 / 721.8, kFarShare, 15'000};

// What was measured on H100s stands for machines that were not.
ExchangeRates rates_on(const LinkGraph& graph) {
  const std::optional<MeasuredMachine> machine = measured_machine(graph.name);
  if (machine == MeasuredMachine::kB200) return kOnBlackwell;
  return machine == MeasuredMachine::kGb200 ? kOnNvl72 : kOnHopper;
}

// Of the tokens, those that have one of `held` of `pool` experts, `copies` of all being drawn without repetition.
double share_drawn(std::int64_t held, std::int64_t pool, std::int64_t copies) {
  double none = 1;
  for (std::int64_t k = 0; k < copies; ++k) {
    const auto left = static_cast<double>(pool - k);
    none *= std::max(0.0, (left - static_cast<double>(held)) / left);
  }
  return 1 - none;
}

// How likely `found` of `mine` groups are among those chosen of all, without repetition.
double chance_of_groups(std::int64_t found, std::int64_t mine, const TokenExchange& exchange) {
  const auto ways = [](std::int64_t of, std::int64_t take) {
    double count = take >= 0 && take <= of ? 1 : 0;
    for (std::int64_t k = 0; k < take; ++k) count *= static_cast<double>(of - k) / static_cast<double>(k + 1);
    return count;
  };
  return ways(mine, found) * ways(exchange.groups - mine, exchange.chosen - found) /
         ways(exchange.groups, exchange.chosen);
}

// The same where a token's experts are in the groups chosen for it. `held` lie next to each other: in a part of one
// group, or in whole ones.
double share_with(std::int64_t held, const TokenExchange& exchange) {
  if (exchange.groups == 0) return share_drawn(held, exchange.experts, exchange.copies);
  const std::int64_t size = exchange.experts / exchange.groups;
  const std::int64_t mine = std::max<std::int64_t>(1, held / size);
  const std::int64_t each = held / mine;
  double share = 0;
  for (std::int64_t found = 1; found <= std::min(mine, exchange.chosen); ++found) {
    share +=
        chance_of_groups(found, mine, exchange) * share_drawn(found * each, exchange.chosen * size, exchange.copies);
  }
  return share;
}

// Bytes per second of the slowest link between two devices; infinite where no link bounds it.
double slowest_link(const LinkGraph& graph, std::int32_t from, std::int32_t to) {
  std::vector<std::int32_t> route;
  graph.router->route(from, to, route);
  double slowest = std::numeric_limits<double>::infinity();
  for (const std::int32_t link : route) {
    const std::int64_t bandwidth = at(graph.links, link).bandwidth;
    if (bandwidth > 0) slowest = std::min(slowest, static_cast<double>(bandwidth));
  }
  return slowest;
}

using ByDomain = std::map<std::int32_t, std::vector<std::int32_t>>;

ByDomain domains_of(const LinkGraph& graph, const std::vector<std::int32_t>& group) {
  ByDomain found;
  for (const std::int32_t device : group) found[graph.domain.empty() ? 0 : at(graph.domain, device)].push_back(device);
  return found;
}

void check_deep_ep(const LinkGraph& graph, const ByDomain& domains, const TokenExchange& exchange) {
  constexpr std::size_t kMostPeers = 8;
  if (exchange.dispatch != MoeDispatch::kDeepEp) return;
  for (const auto& [domain, ranks] : domains) {
    if (ranks.size() <= kMostPeers) continue;
    throw InputError(Diagnostic{"B030", "--moe-dispatch",
                                "deepep exchanges over NVLink among at most 8 ranks, and " +
                                    std::to_string(ranks.size()) + " ranks of an expert group share a domain of " +
                                    graph.name,
                                "write --moe-dispatch hybrid, or a smaller --ep"});
  }
}

}  // namespace

double ranks_reached(const TokenExchange& exchange, std::int64_t ranks) {
  return static_cast<double>(ranks) * share_with(exchange.experts / ranks, exchange);
}

ExchangeBytes exchange_bytes(const TokenExchange& exchange, std::int64_t ranks, std::int64_t machines, Bytes bytes) {
  const double tokens = static_cast<double>(bytes) / static_cast<double>(exchange.copies);  // one copy of each
  const auto inside = static_cast<double>(ranks) / static_cast<double>(machines);
  const double reached = ranks_reached(exchange, ranks);
  const double entered = static_cast<double>(machines - 1) * share_with(exchange.experts / machines, exchange);
  return {tokens * reached * (inside - 1) / inside, tokens * entered};
}

Nanoseconds exchange_time(const LinkGraph& graph, const std::vector<std::vector<std::int32_t>>& groups,
                          const TokenExchange& exchange, Bytes bytes) {
  constexpr double kNanosecondsPerSecond = 1e9;
  const ExchangeRates rates = rates_on(graph);
  double longest = 0;
  for (const std::vector<std::int32_t>& group : groups) {
    const ByDomain domains = domains_of(graph, group);
    check_deep_ep(graph, domains, exchange);
    const auto ranks = static_cast<std::int64_t>(group.size());
    const ExchangeBytes parts = exchange_bytes(exchange, ranks, static_cast<std::int64_t>(domains.size()), bytes);
    const std::vector<std::int32_t>& first = domains.begin()->second;
    double seconds = 0;
    if (first.size() > 1) seconds = parts.near / (rates.near * slowest_link(graph, first[0], first[1]));
    if (domains.size() > 1) {
      const std::int32_t other = domains.rbegin()->second.front();
      seconds = std::max(seconds, parts.far / (rates.far * slowest_link(graph, first[0], other)));
    }
    longest = std::max(longest, seconds);
  }
  return rates.latency + std::llround(longest * kNanosecondsPerSecond);
}

}  // namespace debubble
