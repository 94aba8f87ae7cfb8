// AutoDDL: how each matrix product of a model is split over the devices, by SBP signatures: S(0) rows, S(1) columns, B
// whole on every device, P partial sums. Chen et al., arXiv 2301.06813. On each dimension of a grid of devices a
// product Y = X W has one of three strategies:
//
//     data     X S(0), W B,    Y S(0);  dY S(0) gives dX S(0), dW P
//     column   X B,    W S(1), Y S(1);  dY S(1) gives dX P,    dW where W is
//     row      X S(1), W S(0), Y P;     dY B    gives dX S(1), dW where W is
//
// Its model counts the elements that each device moves, forward and backward, to bring every tensor from the state in
// which it is made to the state in which it is used.
#pragma once

#include <string>
#include <vector>

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] const PlannerEntry& autoddl_planner();

enum class SbpStrategy { kData, kColumn, kRow };
[[nodiscard]] const char* to_string(SbpStrategy strategy);

// By product and dimension of the grid.
using SbpSignatures = std::vector<std::vector<SbpStrategy>>;

// Elements moved per device and step. Dimensions are changed one after the other, the first of the grid first.
[[nodiscard]] double sbp_volume(const std::vector<PlannerProduct>& products, const std::vector<int>& grid,
                                const SbpSignatures& signatures);

struct SbpPlan {
  double volume = 0;
  SbpSignatures signatures;
};
// Coordinate descent: one product after the other takes the best of all its signatures, until none changes.
[[nodiscard]] SbpPlan sbp_descent(const std::vector<PlannerProduct>& products, const std::vector<int>& grid,
                                  SbpSignatures from);
// Exact, by dynamic programming over the chain.
[[nodiscard]] SbpPlan sbp_optimum(const std::vector<PlannerProduct>& products, const std::vector<int>& grid);

}  // namespace debubble
