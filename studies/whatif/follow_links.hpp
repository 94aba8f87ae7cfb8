// What a change of links does to a run in addition to its transfers: collectives inside stages, what ZeRO does inside
// ops, and the tasks of the training step are worked out again. Partition and schedule stay those of the base.
//
// Only what is modelled can follow. A measured profile's stages, and times that were given, keep the collectives that
// are in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario/job/job.hpp"
#include "scenario/request/scenario.hpp"

namespace debubble {

class LinkFollower {
 public:
  // `base` is the job before any change, `scenario` what prepared it.
  LinkFollower(const Scenario& scenario, const Job& base);

  // A job whose topology has changed, with the costs and step that follow. On ideal links, where that is about single
  // links between stages, nothing does. Thread-safe.
  [[nodiscard]] Job followed(Job job) const;
  // The same where the base is on ideal links: all of them got so many times the bandwidth and latency, and the step's
  // collectives, which have ports of their own, run over `step_links`.
  [[nodiscard]] Job followed_ideal(double bandwidth, double latency, const Topology& step_links, Job job) const;

  // The links that collectives inside stages take, of each device of the pipeline: ascending. Empty without a graph or
  // without such collectives.
  [[nodiscard]] const std::vector<std::vector<std::int32_t>>& inside_links() const { return inside_; }

 private:
  void find_inside_links(const Job& base, const Router& router);
  [[nodiscard]] bool concerns_inside(const LinkGraph& graph) const;
  [[nodiscard]] Job with_step(Job job, const StageCosts& costs, const Topology& links) const;

  Scenario scenario_;  // with the partition of the base
  StageCosts costs_;   // of the base, before what the step makes of them; empty on ideal links
  std::vector<std::vector<std::int32_t>> inside_;
};

// Says that, and why, collectives inside stages keep their times though links have changed; nothing where they follow
// or there are none. `named`: single links, not all.
[[nodiscard]] std::string collectives_that_stay(const Scenario& scenario, bool named);

}  // namespace debubble
