// Which ranks of a job do a collective of the training step together, and how long it takes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cost_models/collectives/collective.hpp"
#include "cost_models/step/step_work.hpp"
#include "sim/core/assumption.hpp"

namespace debubble {

using RankGroups = std::vector<std::vector<std::int32_t>>;

// Plans collectives on the request's cluster, or on ideal links.
class StepPlanner {
 public:
  explicit StepPlanner(const StepRequest& request);

  // Ranks that hold the same weights: all data and context ranks on these places of the pipeline, a group per tensor
  // rank. Of experts: a group per part of the experts, too. Of ideal links, on which groups do not meet, here and below
  // one group that speaks for all.
  [[nodiscard]] RankGroups replica_groups(const std::vector<std::int32_t>& places, bool experts) const;
  // The same tensor, context and data rank on all of these places. `replica` -1: of all data ranks.
  [[nodiscard]] RankGroups place_groups(const std::vector<std::int32_t>& places, int replica) const;
  // Everybody, or everybody with data and context rank 0: so few of their bytes travel that groups do not meet.
  [[nodiscard]] RankGroups job_group(bool across_data) const;

  // With the algorithm that was asked for, or the fastest.
  [[nodiscard]] CollectivePlan plan(const RankGroups& groups, CollectiveKind kind, Bytes bytes,
                                    CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAuto) const;
  // Phases that can meet others' flows; none where the network does not share links fluidly.
  [[nodiscard]] std::vector<Flow> phases(const CollectivePlan& plan) const;
  [[nodiscard]] double slow_down(const RankGroups& groups) const;
  [[nodiscard]] const RankLayout& layout() const { return layout_; }
  // "on ideal links, a port for each rank", and who says so.
  [[nodiscard]] std::string model_text() const;
  [[nodiscard]] Source model_source() const;

 private:
  [[nodiscard]] std::optional<LinkGeneration> generation() const;
  [[nodiscard]] CollectiveModel model(const RankGroups& groups, CollectiveKind kind) const;

  const StepRequest* request_;
  const Network* network_;  // null: ideal
  RankLayout layout_;
};

}  // namespace debubble
