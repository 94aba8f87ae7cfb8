#include "studies/whatif/link_groups.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/words.hpp"

namespace debubble {

namespace {

// "nic12>rail4" is "nic#>rail#" with 12 and 4.
std::string pattern_of(const std::string& name, std::vector<std::string>* numbers = nullptr) {
  std::string pattern;
  for (std::size_t k = 0; k < name.size();) {
    if (!is_digit(name[k])) {
      pattern += name[k++];
      continue;
    }
    std::string number;
    while (k < name.size() && is_digit(name[k])) number += name[k++];
    pattern += '#';
    if (numbers != nullptr) numbers->push_back(number);
  }
  return pattern;
}

struct LinkEnds {
  std::string from;
  std::string to;
};

LinkEnds ends_of(const std::string& name) {
  const std::size_t arrow = std::min(name.find('>'), name.size());
  return {name.substr(0, arrow), arrow < name.size() ? name.substr(arrow + 1) : ""};
}

// The same for both directions of a link: "gpu#>nvswitch#".
std::string wire_of(const std::string& name) {
  const LinkEnds ends = ends_of(pattern_of(name));
  return std::min(ends.from, ends.to) + ">" + std::max(ends.from, ends.to);
}

// A machine that owns each node: that of a device, or that of all devices next to it; -1: none.
std::vector<std::int32_t> machines_of(const LinkGraph& graph) {
  constexpr std::int32_t kUnknown = -2;
  std::vector<std::int32_t> machine(graph.nodes.size(), kUnknown);
  for (std::size_t d = 0; d < graph.devices.size(); ++d) {
    at(machine, graph.devices[d]) = graph.domain.empty() ? 0 : graph.domain[d];
  }
  const std::vector<std::int32_t> devices = machine;
  for (const Link& link : graph.links) {
    const std::int32_t of_device = at(devices, link.from);
    std::int32_t& of_node = at(machine, link.to);
    if (of_device == kUnknown || at(devices, link.to) != kUnknown) continue;
    of_node = of_node == kUnknown || of_node == of_device ? of_device : -1;
  }
  std::replace(machine.begin(), machine.end(), kUnknown, -1);
  return machine;
}

}  // namespace

std::string common_name(const std::vector<std::string>& names) {
  std::vector<std::set<long long>> numbers;
  for (const std::string& name : names) {
    std::vector<std::string> of_name;
    (void)pattern_of(name, &of_name);
    numbers.resize(std::max(numbers.size(), of_name.size()));
    for (std::size_t k = 0; k < of_name.size(); ++k) numbers[k].insert(std::stoll(of_name[k].substr(0, 18)));
  }
  std::string text;
  std::size_t next = 0;
  for (const char c : pattern_of(names.front())) {
    if (c != '#') {
      text += c;
      continue;
    }
    const std::set<long long>& all = numbers[next++];
    const auto range = static_cast<std::size_t>(*all.rbegin() - *all.begin()) + 1;
    text += std::to_string(*all.begin());
    if (range > 1) text += (range == all.size() ? "-" : "..") + std::to_string(*all.rbegin());
  }
  return text;
}

LinkGroups::LinkGroups(const Job& job, const Program& program, const LinkFollower& follower) {
  if (job.topology.network() == nullptr) return;
  const LinkGraph& graph = job.topology.network()->graph;
  find_uses(job, program, follower);
  std::vector<std::string> kinds;
  for (const Link& link : graph.links) kinds.push_back(wire_of(link.name));
  const auto figures = [&](std::size_t link) {
    const Link& of = graph.links[link];
    return std::tuple(kinds[link], of.bandwidth, of.latency, of.shared);
  };
  group_by([&](std::size_t link) { return std::pair(figures(link), role_[link]); });
  if (groups_.size() > kMost) {
    const std::vector<std::int32_t> machine = machines_of(graph);
    group_by([&](std::size_t link) {
      const std::int32_t from = at(machine, graph.links[link].from);
      return std::pair(figures(link), from >= 0 ? from : at(machine, graph.links[link].to));
    });
  }
  if (groups_.size() > kMost) group_by(figures);
  describe(graph);
  find_loose(job);
}

void LinkGroups::find_uses(const Job& job, const Program& program, const LinkFollower& follower) {
  const LinkGraph& graph = job.topology.network()->graph;
  uses_.resize(graph.links.size());
  inside_.assign(graph.links.size(), false);
  std::int64_t what = 0;
  const auto carry = [&](std::int64_t number, const FlowPath& path, std::size_t replica) {
    for (const LinkShare& share : path.links) {
      at(uses_, share.link).push_back({number, share.weight, static_cast<std::int32_t>(replica)});
    }
  };
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  for (const Program::Channel& channel : program.channels) {
    if (channel.from_device != channel.to_device) pairs.emplace(channel.from_device, channel.to_device);
  }
  for (const auto& [from, to] : pairs) {
    for (int replica = 0; replica < job.pipeline_replicas; ++replica) {
      carry(what, job.topology.path(replica, from, to), static_cast<std::size_t>(replica));
    }
    ++what;
  }
  for (const StepTask& task : job.step.tasks) {
    std::size_t most = 0;
    for (std::size_t replica = 0; replica < task.phases.size(); ++replica) {
      const std::vector<Flow>& phases = task.phases[replica];
      for (std::size_t k = 0; k < phases.size(); ++k) {
        carry(what + static_cast<std::int64_t>(k), phases[k].path, replica);
      }
      most = std::max(most, phases.size());
    }
    what += static_cast<std::int64_t>(most);
  }
  for (const auto& links : follower.inside_links()) {
    for (const std::int32_t link : links) {
      at(uses_, link).push_back({what, 1, 0});
      at(inside_, link) = true;
    }
    ++what;
  }
  number_uses();
}

void LinkGroups::number_uses() {
  std::map<std::vector<Use>, std::int32_t> roles;
  std::map<std::vector<Use>, std::int32_t> carried;
  const auto number_in = [](auto& known, const std::vector<Use>& uses) {
    return known.try_emplace(uses, static_cast<std::int32_t>(known.size())).first->second;
  };
  for (std::vector<Use>& uses : uses_) {
    std::sort(uses.begin(), uses.end());
    std::vector<Use> of_any = uses;
    for (Use& use : of_any) use.replica = 0;
    role_.push_back(uses.empty() ? -1 : number_in(roles, of_any));
    carries_.push_back(uses.empty() ? -1 : number_in(carried, uses));
  }
}

template <typename Key>
void LinkGroups::group_by(const Key& key) {
  groups_.clear();
  group_of_.assign(uses_.size(), -1);
  std::map<decltype(key(0)), std::int32_t> known;
  for (std::size_t link = 0; link < uses_.size(); ++link) {
    if (role_[link] < 0) continue;
    const auto [found, is_new] = known.try_emplace(key(link), static_cast<std::int32_t>(groups_.size()));
    if (is_new) groups_.emplace_back();
    LinkGroup& group = at(groups_, found->second);
    group.links.push_back(static_cast<std::int32_t>(link));
    group.inside = group.inside || inside_[link];
    group_of_[link] = found->second;
  }
  std::map<std::vector<std::int32_t>, std::int32_t> known_sets;
  for (LinkGroup& group : groups_) {
    std::vector<std::int32_t> carried;
    for (const std::int32_t link : group.links) carried.push_back(at(carries_, link));
    std::sort(carried.begin(), carried.end());
    group.carries = known_sets.try_emplace(carried, static_cast<std::int32_t>(known_sets.size())).first->second;
  }
}

void LinkGroups::describe(const LinkGraph& graph) {
  for (LinkGroup& group : groups_) {
    std::vector<std::string> names;
    std::set<std::string> patterns;
    for (const std::int32_t link : group.links) {
      names.push_back(at(graph.links, link).name);
      patterns.insert(pattern_of(names.back()));
    }
    for (std::string& name : names) {
      if (patterns.size() < 2) break;
      const LinkEnds ends = ends_of(name);
      const bool forward = pattern_of(ends.from) <= pattern_of(ends.to);
      name = forward ? ends.from + "<>" + ends.to : ends.to + "<>" + ends.from;
    }
    group.name = common_name(names);
  }
}

// Flows that share their links max-min fairly never fill one if another that all of them cross, too, is filled first.
void LinkGroups::find_loose(const Job& job) {
  const Network& network = *job.topology.network();
  if (network.model == NetworkModel::kFifo) return;
  constexpr double kClearly = 1.01;  // a change by a part in a thousand leaves it so
  const auto bandwidth = [&](const LinkGroup& group) {
    return static_cast<double>(at(network.graph.links, group.links.front()).bandwidth);
  };
  const auto shared = [&](const LinkGroup& group) { return at(network.graph.links, group.links.front()).shared; };
  for (LinkGroup& group : groups_) {
    if (group.inside) continue;
    group.never_tight = std::any_of(groups_.begin(), groups_.end(), [&](const LinkGroup& other) {
      return other.carries == group.carries && bandwidth(other) > 0 && shared(other) == shared(group) &&
             bandwidth(group) > kClearly * bandwidth(other);
    });
  }
}

}  // namespace debubble
