// How single choices of a plan stand: by their bounds, or simulated. Whatever is illegal is an Evaluation, too: nothing
// throws.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "scenario/job/job.hpp"
#include "sim/core/error.hpp"
#include "sim/core/schedule.hpp"
#include "studies/plan/order_summary.hpp"
#include "studies/plan/space.hpp"

namespace debubble {

// One choice that was simulated and fits.
struct PlannedRun {
  PlanChoice choice;
  Nanoseconds step = 0;
  Nanoseconds bound = 0;  // of the step
  Bytes peak = 0;         // allocated, of the device that takes most
  double bubble_ratio = 0;
  std::optional<double> samples_per_second;
  std::optional<double> tokens_per_second;
  std::optional<double> mfu;
  std::optional<Bytes> spare;  // memory, of the device with the least
  Bytes margin = 0;            // where it is tight: what should stay free of that device, and is more than `spare`

  [[nodiscard]] bool is_tight() const { return margin > 0; }
};

// How a choice stands in the search.
struct Evaluation {
  enum class Kind : std::uint8_t { kBounded, kRefined, kIllegal, kTooLarge, kFits, kOutOfMemory, kDeadlock };
  Kind kind = Kind::kBounded;
  Nanoseconds bound = 0;
  Bytes memory_bound = 0;  // of the device that takes most
  Bytes missing = 0;
  bool only_tight = false;  // by that bound it may fit, but not leave free what is to stay so
  PlannedRun run;
  std::string code;
  std::string message;
};

[[nodiscard]] bool was_simulated(const Evaluation& one);
// Whether it was, and came to its end.
[[nodiscard]] bool has_step(const Evaluation& one);
// Whether activations take more memory than is left, or than leaves free what is to stay so.
[[nodiscard]] bool lacks_room(const Evaluation& one);

// Of a device with so much for its allocator.
[[nodiscard]] Bytes share_to_stay_free(const PlanRequest& request, Bytes capacity, const MemoryLimits& limits);
// The least of all devices.
[[nodiscard]] Bytes share_to_stay_free(const PlanRequest& request, const MemoryLimits& limits);

// The first of what is wrong.
void refuse(Evaluation& one, const InputError& error);

// Whether the framework that --runs-in names refuses the choice, which then is illegal.
bool refuse_by_rules(const PlanRequest& request, const PlanChoice& choice, Evaluation& one);

// An order with few microbatches, or why there is none.
struct Pattern {
  std::optional<OrderSummary> order;
  Schedule shape;     // without its rows
  bool plain = true;  // no copies and no recomputation: its costs are those of any order with the same placement
  Evaluation refusal;
};
using PatternKey = std::tuple<int, int, int, std::string>;  // devices, chunks, microbatches, name with parameters

[[nodiscard]] PatternKey pattern_key(const PlanChoice& choice);
[[nodiscard]] Pattern make_pattern(const PlanRequest& request, const PlanChoice& choice);

// One base's, by ZeRO stage: whatever the order, its layers are these.
using CheckedScenarios = std::map<int, std::shared_ptr<const Scenario>>;

// Variants of one base, those of one ZeRO stage side by side, without the training step. `patterns` has that of each.
// `of_large`, if it is not null, gets what was checked of the ZeRO stages with variants that lack room.
[[nodiscard]] std::vector<Evaluation> bounded(const PlanRequest& request, const std::vector<PlanChoice>& choices,
                                              const std::map<PatternKey, Pattern>& patterns,
                                              CheckedScenarios* of_large = nullptr);

struct StepCosts;  // studies/plan/step_costs.hpp

// Bounds with the training step.
void refine(const PlanChoice& choice, const Pattern& pattern, const StepCosts& step, Evaluation& one);
// Of an order that is planned by its costs, which takes longer.
void refine_planned(const PlanRequest& request, const PlanChoice& choice, Evaluation& one);

// What of a run is worth knowing.
struct Interest {
  // One that takes at least so long by walk_bound is not simulated: it stays refined, with that bound.
  Nanoseconds below = std::numeric_limits<Nanoseconds>::max();
  bool missing = true;  // how much memory one lacks that does not fit; else only that it does not
};

// By the engine.
void simulate_choice(const PlanRequest& request, const PlanChoice& choice, Evaluation& one,
                     const Interest& interest = {});

// What all variants of a base have in common: means over the devices, so that the one with most has no less.
struct BaseEvaluation {
  bool legal = true;
  Nanoseconds compute = 0;  // in one step
  Bytes states = 0;         // weights, gradients and optimizer, with the most sharding that is open
  std::string code;
  std::string message;
};

[[nodiscard]] BaseEvaluation evaluate_base(const PlanRequest& request, const PlanChoice& base, int zero);

}  // namespace debubble
