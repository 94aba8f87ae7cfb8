// Cost-aware schedules in tests: costs in whole units, the same for the planner and for the engine that judges it.
#pragma once

#include <string>
#include <vector>

#include "schedules/common/contract.hpp"
#include "tests/support/toy.hpp"

namespace debubble::testing {

// One microbatch on one stage.
struct Pass {
  Nanoseconds forward = 0, input_grad = 0, weight_grad = 0;
  Bytes activation = 2, held = 1;
};

// `passes`: one per stage. `hop`: between any two stages on different devices.
struct Case {
  int devices = 1, microbatches = 1;
  std::vector<Pass> passes;
  Nanoseconds hop = 0;

  [[nodiscard]] int chunks() const { return static_cast<int>(passes.size()) / devices; }
  [[nodiscard]] StageCosts costs() const;
  [[nodiscard]] PlanningCosts known() const;
  [[nodiscard]] Nanoseconds work(int device) const;  // one stage per device
};

// Equal stages, `chunks` per device.
[[nodiscard]] Case equal_case(int devices, int microbatches, const Pass& pass, Nanoseconds hop, int chunks = 1);

// The row's schedule for these costs.
[[nodiscard]] Schedule plan(const std::string& name, const Case& of, const Params& params = {});

// Of a schedule under these costs.
[[nodiscard]] Totals totals_of(const Schedule& schedule, const Case& of);

// Peaks in activations of the first stage, each rounded to `decimals`: "8 7.366 6.733".
[[nodiscard]] std::string peaks_of(const Totals& totals, const Case& of, int decimals = 3);

}  // namespace debubble::testing
