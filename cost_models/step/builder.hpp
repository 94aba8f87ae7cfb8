// StepBuilder: the tasks of one training step, in the order in which they are added.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "cost_models/step/groups.hpp"
#include "cost_models/step/step_work.hpp"
#include "sim/core/at.hpp"

namespace debubble {

class StepBuilder {
 public:
  explicit StepBuilder(const StepRequest& request);

  [[nodiscard]] StepWork run();
  // Only the sums of gradients that devices of one pipeline hold together.
  [[nodiscard]] StepWork run_replica_sums();

 private:
  using Places = std::vector<std::int32_t>;  // devices of the pipeline

  // The request, asked.
  [[nodiscard]] int zero() const { return request_.parallel.zero; }
  [[nodiscard]] bool computed() const { return !request_.stages.empty(); }
  [[nodiscard]] bool across() const { return request_.parallel.data > 1; }
  [[nodiscard]] const StageState& state(int stage) const { return at(request_.stages, stage); }
  [[nodiscard]] Places places(int stage) const;                               // of all replicas, once each
  [[nodiscard]] std::vector<StageName> names(int stage) const;                // in all replicas
  [[nodiscard]] std::vector<StageName> names_on(std::int32_t device) const;   // all that runs there
  [[nodiscard]] std::vector<StageName> states_on(std::int32_t device) const;  // all that is held there, once
  // Ranks that hold the same weights of a stage.
  [[nodiscard]] std::int64_t copies(int stage, bool experts = false) const;
  // As the optimizer reads gradients: in the format of the copies that it keeps of 16-bit weights.
  [[nodiscard]] Bytes wide_gradients(Bytes parameters, Bytes gradients) const {
    return std::max(options_.master_ratio * parameters, gradients);
  }
  // What of a stage's bytes one rank updates.
  [[nodiscard]] Bytes sharded(Bytes all, int stage, bool experts) const;
  [[nodiscard]] Nanoseconds memory_time(Bytes bytes) const;

  // Tasks. Each waits for what its devices have done before, and is what they have done then.
  std::int32_t add(StepTask task);
  [[nodiscard]] StepTask collective(StepTask::Kind kind, const Places& devices, const RankGroups& groups,
                                    const CollectivePlan& plan, Bytes bytes, const std::string& of) const;
  [[nodiscard]] static StepTask given(StepTask::Kind kind, const Places& devices, Nanoseconds duration,
                                      std::string what);
  // Makes it wait for all stages of these devices, and for what the devices have done since.
  void wait_for(const Places& devices, StepTask& task) const;
  std::vector<std::int32_t>& done(std::int32_t device) { return at(done_, device); }

  // buckets.cpp: the same collective, in buckets beside an op of that stage where the options say so.
  [[nodiscard]] StepTask bucketed(StepTask::Kind kind, int stage, const RankGroups& groups, CollectiveKind collective,
                                  Bytes bytes, const std::string& of) const;
  // reduce.cpp
  void reduce(int stage);
  void reduce_bytes(int stage, Bytes bytes, bool experts, const std::string& of);
  void add_reduce(int stage, StepTask task);
  void reduce_embedding();
  [[nodiscard]] StepTask embedding_task(const Places& pair) const;
  // norm.cpp
  void norm();
  void local_norm(std::int32_t device);
  void norm_barrier();
  void norm_chain();
  // update.cpp
  void optimizer(std::int32_t device);
  struct UpdateBytes {
    Bytes whole = 0;  // of all that a device holds
    Bytes part = 0;   // of what its optimizer updates, as if that were all
  };
  [[nodiscard]] UpdateBytes update_bytes(const StageState& all, bool averaged) const;
  [[nodiscard]] Bytes update_traffic(int stage) const;
  [[nodiscard]] bool gathers_before() const;
  [[nodiscard]] bool gathers_after() const;
  void gather(int stage);
  void gather_bytes(int stage, Bytes bytes, bool experts, const std::string& of);
  void add_gather(int stage, StepTask task);

  const StepRequest& request_;
  const StepOptions& options_;
  const Schedule& schedule_;
  StepPlanner planner_;
  std::vector<std::vector<std::int32_t>> done_;  // by device: the tasks that its next one waits for
  StepWork work_;
};

// A given duration of one device's share, for that many of its stages.
[[nodiscard]] Nanoseconds part_of_share(Nanoseconds share, std::size_t stages, int chunks);

}  // namespace debubble
