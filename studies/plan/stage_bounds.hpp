// Bounds of choices whose layers are cut alike: of all variants of one base and one ZeRO stage.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cost_models/partition/partition.hpp"
#include "scenario/request/scenario.hpp"
#include "sim/core/stage_costs.hpp"
#include "studies/plan/evaluation.hpp"
#include "studies/plan/step_costs.hpp"

namespace debubble {

// Costs with or without what a training step adds; `order` is a pattern of the choice's.
void bound_by(const OrderSummary& order, const StepCosts& step, const PlanChoice& choice, Evaluation& one);

// Of all layers, on one rank.
[[nodiscard]] Bytes state_bytes(const Scenario& scenario);

// The automatic cuts of a base's layers, by their number of stages: those of any ZeRO stage, as long as the layers take
// the same times.
class KnownCuts {
 public:
  // Of the scenario of another ZeRO stage.
  void use(const Scenario& scenario);
  [[nodiscard]] const CutRule* find(int stages) const;
  void keep(int stages, std::vector<int> cut) { cuts_.emplace(stages, as_cut(std::move(cut))); }

 private:
  std::vector<Nanoseconds> times_;
  std::map<int, CutRule> cuts_;
};

class StageBounds {
 public:
  // Throws InputError where no such run exists.
  StageBounds(const PlanRequest& request, const PlanChoice& choice, KnownCuts& cuts);

  [[nodiscard]] Evaluation of(const PlanChoice& choice, const Pattern& pattern);

  // That of the choice that it was made for.
  [[nodiscard]] std::shared_ptr<const Scenario> scenario() &&;

  // The fewest blocks of each stage, more than the choice's, whose recomputation leaves free what is to stay so, by the
  // bounds; they are put into the choice. Nothing: there are none, or they would be cut otherwise.
  [[nodiscard]] std::optional<Evaluation> with_fewest_blocks(PlanChoice& choice, const Pattern& pattern);

 private:
  [[nodiscard]] StageCosts costs_of(const Pattern& pattern);
  void find_costs(const Pattern& pattern);

  Scenario scenario_;
  CutRule typed_;
  Bytes missing_;
  KnownCuts& cuts_;
  StepCosts bare_;
  struct Known {
    const Schedule* shape;
    int blocks;
    StageCosts costs;
  };
  std::vector<Known> known_;  // by placement
};

// Of choices that do not fit: the same with the fewest of the first blocks of each stage recomputed that fit by the
// bounds, more than the choice recomputes already. They are of one base; those of one ZeRO stage stand together.
struct FewestBlocks {
  int blocks = 0;  // 0: none are enough, or no bound knows
  Evaluation bounds;
};
[[nodiscard]] std::vector<FewestBlocks> fewest_blocks(const PlanRequest& request, std::vector<PlanChoice> choices,
                                                      const std::map<PatternKey, Pattern>& patterns);

}  // namespace debubble
