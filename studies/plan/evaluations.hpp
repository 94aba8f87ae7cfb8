// All evaluations of a plan's space, as far as they were asked for: computed in parallel, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "scenario/job/progress.hpp"
#include "studies/plan/evaluation.hpp"
#include "studies/plan/space.hpp"
#include "studies/plan/step_costs.hpp"
#include "studies/plan/variant_id.hpp"

namespace debubble {

class PlanRanks;  // studies/plan/over_mpi.hpp

class PlanEvaluations {
 public:
  // `ranks`: other processes that evaluate, too; or null.
  PlanEvaluations(PlanRequest request, PlanSpace space, PlanRanks* ranks = nullptr);

  [[nodiscard]] const PlanSpace& space() const { return space_; }
  [[nodiscard]] PlanChoice choice_of(const VariantId& id) const { return debubble::choice_of(space_, id); }

  void evaluate_bases(int threads, Progress& progress);
  // Those of others, which have the same space.
  void take_bases(const PlanEvaluations& others);
  [[nodiscard]] const BaseEvaluation& base(std::size_t k) const { return bases_[k]; }

  // Null where nothing is known yet.
  [[nodiscard]] Evaluation* find(const VariantId& id);
  // What was simulated.
  [[nodiscard]] std::vector<VariantId> simulated() const;

  // Bounds of those that have none yet. In `ids` those of one base stand together.
  void bound(const std::vector<VariantId>& ids, int threads);
  // A closer look at those that have had none.
  void refine_all(const std::vector<VariantId>& ids, int threads);
  // Of choices that do not fit as the cut balances time: the same with --partition memory, where the space has them,
  // each device has one stage, and some cut may fit; bounded.
  [[nodiscard]] std::vector<VariantId> memory_cuts_of(const std::vector<VariantId>& ids, int threads);
  // Of choices that recompute nothing, or the first blocks of each stage, and do not fit so: the same with the fewest
  // more that fit by the bounds, where the space has them and the order does not depend on costs; bounded.
  [[nodiscard]] std::vector<VariantId> fewest_blocks_of(const std::vector<VariantId>& ids, int threads);
  [[nodiscard]] bool may_recompute_more(const VariantId& id);
  // Whether it is one of these two, which the space's bases do not have.
  [[nodiscard]] bool is_second_try(const VariantId& id) const {
    return id.base >= space_.bases.size() || id.blocks > 0;
  }
  // Those that were refined; none that Interest::below excludes.
  void simulate_all(const std::vector<VariantId>& ids, const Interest& interest, int threads);

 private:
  // Base, ZeRO stage, blocks that recompute, shape.
  using StepKey = std::tuple<std::uint32_t, std::uint16_t, std::uint16_t, const Pattern*>;

  void make_patterns(const std::vector<std::vector<PlanChoice>>& groups, int threads);
  void make_all_step_costs(const std::vector<VariantId>& ids, int threads);
  [[nodiscard]] StepKey step_key(const VariantId& id) const;
  [[nodiscard]] std::shared_ptr<const Scenario> checked_of(const VariantId& id) const;  // or null

  PlanRequest request_;
  PlanSpace space_;
  PlanRanks* ranks_;
  std::vector<BaseEvaluation> bases_;
  std::vector<std::map<VariantId, Evaluation>> evaluations_;  // by base
  std::map<std::uint32_t, CheckedScenarios> checked_;         // by base: of those that `bound` had last
  std::map<VariantId, bool> cut_may_fit_;           // of choices that do not fit as they are: whether a memory cut may
  std::map<VariantId, std::uint16_t> more_blocks_;  // of choices that do not fit: as many as may; 0: there are none
  std::map<PatternKey, Pattern> patterns_;
  std::map<const Pattern*, const Pattern*> shapes_;    // of each pattern: the first with its shape
  std::map<int, std::vector<const Pattern*>> firsts_;  // by stages
  std::map<StepKey, StepCosts> steps_;
};

}  // namespace debubble
