#include "sim/topologies/changes.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {

namespace {

std::optional<std::int32_t> device_number(std::string_view text) {
  const auto number = read_whole<std::int32_t>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

class LinkFinder {
 public:
  LinkFinder(const LinkGraph& graph, const std::string& place) : graph_(graph), place_(place) {}

  // The route there and back.
  [[nodiscard]] std::vector<std::int32_t> between_devices(std::int32_t a, std::int32_t b) const {
    if (std::max(a, b) >= graph_.device_count() || a == b) {
      fail("\"" + std::to_string(a) + "-" + std::to_string(b) + "\" is not a pair of GPUs",
           "two different numbers from 0 to " + std::to_string(graph_.device_count() - 1));
    }
    std::vector<std::int32_t> links;
    graph_.router->route(a, b, links);
    graph_.router->route(b, a, links);
    return links;
  }

  [[nodiscard]] std::vector<std::int32_t> between_nodes(std::string_view a, std::string_view b, bool both) const {
    const std::int32_t from = node(a);
    const std::int32_t to = node(b);
    std::vector<std::int32_t> links;
    for (std::size_t k = 0; k < graph_.links.size(); ++k) {
      const Link& link = graph_.links[k];
      const bool forth = link.from == from && link.to == to;
      const bool back = both && link.from == to && link.to == from;
      if (forth || back) links.push_back(static_cast<std::int32_t>(k));
    }
    if (links.empty()) {
      fail("no link joins " + std::string(a) + " and " + std::string(b), neighbours(from));
    }
    return links;
  }

  [[nodiscard]] bool has_node(std::string_view name) const { return find(name) != graph_.nodes.end(); }

 private:
  [[nodiscard]] std::vector<GraphNode>::const_iterator find(std::string_view name) const {
    return std::find_if(graph_.nodes.begin(), graph_.nodes.end(),
                        [&](const GraphNode& node) { return node.name == name; });
  }

  [[nodiscard]] std::int32_t node(std::string_view name) const {
    const auto found = find(name);
    if (found != graph_.nodes.end()) return static_cast<std::int32_t>(found - graph_.nodes.begin());
    std::vector<std::string> names;
    for (const GraphNode& known : graph_.nodes) names.push_back(known.name);
    const std::string guess = closest_name(name, names);
    const bool of_pipeline = name.size() > 1 && name.front() == 'd' && device_number(name.substr(1));
    fail(graph_.name + " has no node \"" + std::string(name) + "\"",
         of_pipeline     ? "the topology's GPUs go by number: write it like 3-4"
         : guess.empty() ? "write it like 3-4, for two GPUs, or " + names.front() + "-" + names.back()
                         : "did you mean " + guess + "?");
  }

  [[nodiscard]] std::string neighbours(std::int32_t from) const {
    constexpr int kShown = 8;
    std::string all;
    int count = 0;
    for (const Link& link : graph_.links) {
      if (link.from != from) continue;
      if (++count > kShown) return all + ", ...";
      all += (all.empty() ? "" : ", ") + at(graph_.nodes, link.to).name;
    }
    return at(graph_.nodes, from).name + " is joined to " + all;
  }

  [[noreturn]] void fail(std::string message, std::string help) const {
    throw InputError(Diagnostic{"B008", place_, std::move(message), std::move(help)});
  }

  const LinkGraph& graph_;
  const std::string& place_;
};

class DetourRouter final : public Router {
 public:
  explicit DetourRouter(const LinkGraph& graph)
      : usual_(graph.router), around_(shortest_paths(graph)), cut_(graph.links.size()) {
    for (std::size_t k = 0; k < cut_.size(); ++k) cut_[k] = graph.links[k].cut;
  }

  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const override {
    const std::size_t before = links.size();
    usual_->route(from, to, links);
    if (whole(links, before)) return;
    links.resize(before);
    around_->route(from, to, links);
  }

  bool host_route(std::int32_t device, bool to_host, std::vector<std::int32_t>& links) const override {
    const std::size_t before = links.size();
    if (!usual_->host_route(device, to_host, links)) return false;
    if (whole(links, before)) return true;
    links.resize(before);
    return around_->host_route(device, to_host, links);
  }

 private:
  [[nodiscard]] bool whole(const std::vector<std::int32_t>& links, std::size_t first) const {
    return std::none_of(links.begin() + static_cast<std::ptrdiff_t>(first), links.end(),
                        [&](std::int32_t link) { return at(cut_, link); });
  }

  std::shared_ptr<const Router> usual_;
  std::shared_ptr<const Router> around_;
  std::vector<bool> cut_;
};

}  // namespace

std::vector<std::int32_t> links_named(const LinkGraph& graph, std::string_view text, const std::string& place) {
  const LinkFinder finder(graph, place);
  std::vector<std::int32_t> links;
  const std::size_t arrow = text.find('>');
  // A node's name may hold a dash; the first split at which both sides exist is the one that was meant.
  std::size_t dash = text.find('-');
  if (arrow != std::string_view::npos) {
    links = finder.between_nodes(text.substr(0, arrow), text.substr(arrow + 1), false);
  } else if (dash == std::string_view::npos) {
    throw InputError(
        Diagnostic{"B008", place, "\"" + std::string(text) + "\" is not a pair", "write it like 3-4, for two GPUs"});
  } else {
    const std::optional<std::int32_t> a = device_number(text.substr(0, dash));
    const std::optional<std::int32_t> b = device_number(text.substr(dash + 1));
    if (a && b) {
      links = finder.between_devices(*a, *b);
    } else {
      const std::size_t first = dash;
      while (dash != std::string_view::npos &&
             !(finder.has_node(text.substr(0, dash)) && finder.has_node(text.substr(dash + 1)))) {
        dash = text.find('-', dash + 1);
      }
      if (dash == std::string_view::npos) dash = first;
      links = finder.between_nodes(text.substr(0, dash), text.substr(dash + 1), true);
    }
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

LinkGraph without_links(const LinkGraph& graph, const std::vector<std::int32_t>& links) {
  LinkGraph changed = graph;
  for (const std::int32_t link : links) at(changed.links, link).cut = true;
  changed.router = std::make_shared<DetourRouter>(changed);
  return changed;
}

}  // namespace debubble
