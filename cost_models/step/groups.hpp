// Which ranks of a job do a collective of the training step together, and how long it takes them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cost_models/collectives/collective.hpp"
#include "cost_models/step_work.hpp"

namespace debubble {

using RankGroups = std::vector<std::vector<std::int32_t>>;

// Ranks that hold the same weights: all data and context ranks on these places of the pipeline, a group per tensor
// rank. Of experts: a group per part of the experts, too.
[[nodiscard]] RankGroups replica_groups(const RankLayout& layout, const std::vector<std::int32_t>& places,
                                        bool experts);
// The same tensor, context and data rank on all of these places. `replica` -1: of all data ranks.
[[nodiscard]] RankGroups place_groups(const RankLayout& layout, const std::vector<std::int32_t>& places, int replica);
// Everybody, or everybody with the same data and context rank.
[[nodiscard]] RankGroups job_groups(const RankLayout& layout, bool across_data);

// Plans collectives on the request's cluster, or on ideal links.
class StepPlanner {
 public:
  explicit StepPlanner(const StepRequest& request);

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
