#include "sim/engine/max_min.hpp"

#include <algorithm>
#include <limits>

#include "sim/core/at.hpp"

namespace debubble {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
// Two levels closer than this are one: they differ by rounding only, and a second step would raise nothing but that.
constexpr double kSame = 1 + 1e-12;

}  // namespace

void MaxMin::clear() {
  links_.clear();
  flows_.clear();
  crossings_.clear();
}

std::int32_t MaxMin::add_link(double capacity, bool shared) {
  links_.push_back({capacity, capacity, 0, 0, shared});
  return static_cast<std::int32_t>(links_.size()) - 1;
}

std::int32_t MaxMin::add_flow(double bound, double penalty) {
  const auto begin = static_cast<std::int32_t>(crossings_.size());
  flows_.push_back({bound > 0 ? bound * penalty : kUnlimited, penalty, -1, begin, begin});
  return static_cast<std::int32_t>(flows_.size()) - 1;
}

void MaxMin::cross(std::int32_t link, double weight) {
  crossings_.push_back({link, weight});
  flows_.back().end = static_cast<std::int32_t>(crossings_.size());
}

// Crossings come in by flow; filling a link asks for its flows. `rising` serves as the fill position of each link's
// part and is then what it is named for.
void MaxMin::index_links() {
  link_begin_.assign(links_.size() + 1, 0);
  for (const Crossing& crossing : crossings_) ++link_begin_[to_index(crossing.link) + 1];
  for (std::size_t l = 0; l < links_.size(); ++l) link_begin_[l + 1] += link_begin_[l];
  on_link_.resize(crossings_.size());
  for (std::size_t f = 0; f < flows_.size(); ++f) {
    for (std::int32_t c = flows_[f].begin; c < flows_[f].end; ++c) {
      const std::int32_t l = at(crossings_, c).link;
      at(on_link_, at(link_begin_, l) + at(links_, l).rising++) = {static_cast<std::int32_t>(f),
                                                                   at(crossings_, c).weight};
    }
  }
}

// What the flows that are still rising ask of the link, per unit of the common level. Links that are not shared need it
// anew whenever one of their flows stops: a maximum cannot be taken back as a sum can.
void MaxMin::measure(std::size_t l) {
  SolvedLink& link = links_[l];
  link.demand = 0;
  link.rising = 0;
  for (std::int32_t i = link_begin_[l]; i < link_begin_[l + 1]; ++i) {
    const SolvedFlow& flow = at(flows_, at(on_link_, i).link);
    if (flow.rate >= 0) continue;
    ++link.rising;
    const double part = at(on_link_, i).weight / flow.penalty;
    link.demand = link.shared ? link.demand + part : std::max(link.demand, part);
  }
}

// The level at which the next link is full. It never sinks from step to step: a flow that stops at a level no higher
// takes no more of its links than they counted on for it.
double MaxMin::lowest_full_link() const {
  double lowest = kUnlimited;
  for (const SolvedLink& link : links_) {
    if (link.rising > 0 && link.demand > 0) lowest = std::min(lowest, link.left / link.demand);
  }
  return std::max(lowest, 0.0);
}

void MaxMin::stop(std::size_t f, double level) {
  SolvedFlow& flow = flows_[f];
  flow.rate = level / flow.penalty;
  for (std::int32_t c = flow.begin; c < flow.end; ++c) {
    SolvedLink& link = at(links_, at(crossings_, c).link);
    --link.rising;
    // Where each flow has the whole link, one that stops leaves the others as much as before.
    if (!link.shared) {
      touched_.push_back(at(crossings_, c).link);
      continue;
    }
    link.left = std::max(0.0, link.left - at(crossings_, c).weight * flow.rate);
    // Exact once the last one leaves; until then what rounding leaves behind is far below kSame.
    link.demand -= at(crossings_, c).weight / flow.penalty;
  }
}

std::size_t MaxMin::stop_bounded(double level) {
  std::size_t stopped = 0;
  for (std::size_t f = 0; f < flows_.size(); ++f) {
    if (flows_[f].rate >= 0 || flows_[f].bound > level) continue;
    stop(f, flows_[f].bound);
    ++stopped;
  }
  return stopped;
}

std::size_t MaxMin::stop_at_full_links(double level) {
  std::size_t stopped = 0;
  // Which links are full is settled before any flow stops: a stop changes what is left of others.
  full_.clear();
  for (std::size_t l = 0; l < links_.size(); ++l) {
    const SolvedLink& link = links_[l];
    if (link.rising > 0 && link.demand > 0 && link.left <= link.demand * level * kSame) {
      full_.push_back(static_cast<std::int32_t>(l));
    }
  }
  for (const std::int32_t l : full_) {
    for (std::int32_t i = at(link_begin_, l); i < link_begin_[to_index(l) + 1]; ++i) {
      const auto f = to_index(at(on_link_, i).link);
      if (flows_[f].rate >= 0) continue;
      stop(f, level);
      ++stopped;
    }
  }
  return stopped;
}

// Progressive filling (Bertsekas and Gallager 1992, 6.5.2). Invariant: all flows that are still rising have the same
// level, and no link is over its capacity. Every step stops at least one flow, for the level is that of a link or of a
// bound that is reached, so there are at most as many steps as flows.
void MaxMin::solve() {
  index_links();
  for (std::size_t l = 0; l < links_.size(); ++l) measure(l);
  for (std::size_t rising = flows_.size(); rising > 0;) {
    const double level = lowest_full_link();
    double bound = kUnlimited;
    for (const SolvedFlow& flow : flows_) {
      if (flow.rate < 0) bound = std::min(bound, flow.bound);
    }
    touched_.clear();
    // Bounds below the level are taken one after the other: each makes room on the flow's links and raises the level.
    // Where nothing limits any flow, level and bound are both infinite, and so are all rates.
    rising -= bound <= level ? stop_bounded(bound) : stop_at_full_links(level);
    for (const std::int32_t link : touched_) measure(to_index(link));
  }
}

}  // namespace debubble
