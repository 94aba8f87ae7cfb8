// The orders of the five schedules, written a second time from their published rules: what the catalog is held against.
//
// Rows only: no placement object, no parameters, no checks. Numbers are as in a Schedule: stages in model order,
// microbatches over all replicas, replica 0's first.
#pragma once

#include <vector>

#include "sim/core/op.hpp"

namespace debubble::reference {

using Rows = std::vector<std::vector<Op>>;

[[nodiscard]] Op make_op(OpKind kind, int stage, int microbatch);

// Huang et al. 2019: all forwards, then all backwards.
[[nodiscard]] Rows gpipe_rows(int p, int m, bool descending);

// Narayanan et al. 2021: warm up, one forward one backward, drain.
[[nodiscard]] Rows one_f_one_b_rows(int p, int m);

// Megatron-LM's table of (microbatch, chunk) with groups of g.
[[nodiscard]] Rows interleaved_rows(int p, int m, int v, int g);

// Li & Hoefler 2021, direct concatenation: f down and f up pipes, every op in its slot. Only m % D == 0 or f == 1.
[[nodiscard]] Rows chimera_rows(int devices, int m, int f);

// Forward doubling in the published block form, f = 1, m a multiple of 2D. `fused`: the two forwards are one cell.
// With D a divisor of m and pieces counted as microbatches it is backward halving too.
[[nodiscard]] Rows chimera_doubling_rows(int devices, int m, bool fused);

// Qi et al. 2024: 1F1B with the backward split, device i starts W after i extra input gradients.
[[nodiscard]] Rows zb_h1_rows(int p, int m);

}  // namespace debubble::reference
