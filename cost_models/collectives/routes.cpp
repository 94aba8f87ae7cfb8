#include "cost_models/collectives/routes.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "sim/core/at.hpp"

namespace debubble::collectives {

void Messages::append(const Messages& other, std::int64_t times) {
  near += times * other.near;
  far += times * other.far;
  near_links += times * other.near_links;
  far_links += times * other.far_links;
}

void Messages::keep_longer(const Messages& other) {
  const auto rank = [](const Messages& chain) {
    return std::make_tuple(chain.far, chain.far_links + chain.near_links, chain.near);
  };
  if (rank(*this) < rank(other)) *this = other;
}

std::span<const std::int32_t> Routes::route(std::int32_t from, std::int32_t to) {
  const std::uint64_t key = (static_cast<std::uint64_t>(from) << 32U) | static_cast<std::uint32_t>(to);
  const auto [place, is_new] = places_.try_emplace(key);
  if (is_new) {
    place->second.begin = links_.size();
    graph_->router->route(from, to, links_);
    place->second.end = links_.size();
  }
  return std::span(links_).subspan(place->second.begin, place->second.end - place->second.begin);
}

Messages Routes::message(std::int32_t from, std::int32_t to) {
  Nanoseconds latency = 0;
  for (const std::int32_t link : route(from, to)) latency += at(graph_->links, link).latency;
  const bool far = domain(from) != domain(to);
  return far ? Messages{0, 1, 0, latency} : Messages{1, 0, latency, 0};
}

std::int32_t Routes::domain(std::int32_t device) const {
  return graph_->domain.empty() ? 0 : at(graph_->domain, device);
}

void Routes::send(std::int32_t from, std::int32_t to, double count, PhaseDraft& phase) {
  for (const std::int32_t link : route(from, to)) phase.links.push_back({link, count});
}

std::vector<Ranks> by_domain(const Routes& routes, const Ranks& group) {
  std::vector<Ranks> domains;
  std::unordered_map<std::int32_t, std::size_t> place;
  for (const std::int32_t device : group) {
    const auto [found, is_new] = place.try_emplace(routes.domain(device), domains.size());
    if (is_new) domains.emplace_back();
    domains[found->second].push_back(device);
  }
  return domains;
}

bool even(const std::vector<Ranks>& domains) {
  return std::all_of(domains.begin(), domains.end(),
                     [&](const Ranks& ranks) { return ranks.size() == domains.front().size(); });
}

void merge(std::vector<LinkShare>& links) {
  std::stable_sort(links.begin(), links.end(), [](const LinkShare& a, const LinkShare& b) { return a.link < b.link; });
  std::size_t kept = 0;
  for (const LinkShare& share : links) {
    if (kept > 0 && links[kept - 1].link == share.link) {
      links[kept - 1].weight += share.weight;
    } else {
      links[kept++] = share;
    }
  }
  links.resize(kept);
}

}  // namespace debubble::collectives
