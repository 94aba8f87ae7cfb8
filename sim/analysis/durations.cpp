#include "sim/analysis/durations.hpp"

#include <map>
#include <tuple>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/median.hpp"

namespace debubble {
namespace {

using Durations = std::vector<Nanoseconds>;
using LinkKey = std::tuple<std::int32_t, std::int32_t, Bytes>;

constexpr double kSlowStepShare = 0.9;

std::map<OpGroup, Durations> by_op(const Timeline& timeline) {
  std::map<OpGroup, Durations> groups;
  for (const Span& span : timeline.spans) groups[op_group(span, timeline)].push_back(span.end - span.begin);
  return groups;
}

std::map<LinkKey, Durations> by_link(const Timeline& timeline) {
  std::map<LinkKey, Durations> links;
  for (const Transfer& transfer : timeline.transfers) {
    if (transfer.assumed) continue;
    links[{transfer.from_device, transfer.to_device, transfer.bytes}].push_back(transfer.end - transfer.begin);
  }
  return links;
}

// What the transfers of each link took in each iteration.
std::map<LinkKey, std::vector<Durations>> by_link(std::span<const Timeline* const> measured) {
  std::map<LinkKey, std::vector<Durations>> links;
  for (const Timeline* const timeline : measured) {
    for (auto& [link, durations] : by_link(*timeline)) links[link].push_back(std::move(durations));
  }
  std::erase_if(links, [&](const auto& one) { return one.second.size() < measured.size(); });
  return links;
}

Durations all_steps(const std::vector<Durations>& steps) {
  Durations all;
  for (const Durations& one : steps) all.insert(all.end(), one.begin(), one.end());
  return all;
}

// By link and iteration, the last entry being of all iterations together.
using Medians = std::map<LinkKey, Durations>;

Medians medians_of(const std::map<LinkKey, std::vector<Durations>>& links) {
  Medians medians;
  for (const auto& [link, steps] : links) {
    for (const Durations& step : steps) medians[link].push_back(lower_median(step));
    medians[link].push_back(lower_median(all_steps(steps)));
  }
  return medians;
}

Nanoseconds median_of_others(const Medians& medians, const LinkKey& link, std::size_t step) {
  Durations others;
  for (const auto& [other, values] : medians) {
    if (other != link && std::get<Bytes>(other) == std::get<Bytes>(link)) others.push_back(values[step]);
  }
  return lower_median(std::move(others));
}

bool times_slower(Nanoseconds own, Nanoseconds others) {
  return others > 0 && static_cast<double>(own) >= kSlowLink * static_cast<double>(others);
}

}  // namespace

OpGroup op_group(const Span& span, const Timeline& timeline) {
  const Op* const partner = timeline.partner(span);
  return {span.op.stage, span.op.kind, partner != nullptr, partner != nullptr ? partner->stage : -1, span.device};
}

bool LinkDurations::is_slow(std::size_t iterations, Nanoseconds residual) const {
  return times_slower(duration.median, others) && duration.median - others > residual &&
         static_cast<double>(slow_steps) >= kSlowStepShare * static_cast<double>(iterations);
}

std::vector<OpDurations> op_durations(const Timeline& predicted, std::span<const Timeline* const> measured,
                                      std::size_t chosen) {
  std::map<OpGroup, OpDurations> groups;
  for (const Span& span : predicted.spans) {
    OpDurations& group = groups[op_group(span, predicted)];
    const Op* const partner = predicted.partner(span);
    group = {span.device, span.op, partner != nullptr ? *partner : Op{}, partner != nullptr, group.count + 1, {}};
  }
  std::map<OpGroup, Durations> assumed = by_op(predicted);
  std::map<OpGroup, Durations> seen = by_op(*measured[chosen]);
  std::map<OpGroup, Durations> all;
  for (const Timeline* const timeline : measured) {
    for (const auto& [key, durations] : by_op(*timeline)) {
      all[key].insert(all[key].end(), durations.begin(), durations.end());
    }
  }
  std::vector<OpDurations> result;
  for (auto& [key, group] : groups) {
    if (seen.count(key) == 0) continue;  // on another device than predicted
    group.duration = make_figure(lower_median(std::move(assumed[key])), lower_median(std::move(seen[key])), all[key]);
    result.push_back(group);
  }
  return result;
}

std::vector<LinkDurations> link_durations(const Timeline& predicted, std::span<const Timeline* const> measured,
                                          std::size_t chosen) {
  // Sizes of a prediction may be others than those that ran: links are matched by their ends alone.
  std::map<std::pair<std::int32_t, std::int32_t>, Durations> assumed;
  for (const Transfer& transfer : predicted.transfers) {
    assumed[{transfer.from_device, transfer.to_device}].push_back(transfer.end - transfer.begin);
  }
  const auto links = by_link(measured);
  const Medians medians = medians_of(links);
  std::vector<LinkDurations> result;
  for (const auto& [link, steps] : links) {
    const Durations& own = medians.at(link);
    LinkDurations one;
    std::tie(one.from, one.to, one.bytes) = link;
    const Durations all = all_steps(steps);
    one.count = static_cast<std::int64_t>(all.size());
    one.duration = make_figure(lower_median(assumed[{one.from, one.to}]), own[chosen], all);
    one.others = median_of_others(medians, link, steps.size());
    for (std::size_t k = 0; k < steps.size(); ++k) {
      one.slow_steps += times_slower(own[k], median_of_others(medians, link, k)) ? 1 : 0;
    }
    result.push_back(one);
  }
  return result;
}

}  // namespace debubble
