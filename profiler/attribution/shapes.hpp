// Shapes of matmuls, to tell the weight's gradient from the input's.
//
//     y[m,n] = x[m,k] . Wt[k,n]        dx[m,k] = dy[m,n] . W[n,k]         result has x's dimensions
//                                      dW[n,k] = dyt[n,m] . x[m,k]        result has W's dimensions, or Wt's
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "profiler/attribution/range_names.hpp"
#include "profiler/attribution/slot.hpp"

namespace debubble::attribution {

struct Matrix {
  std::int64_t rows = 0;  // 0: not known
  std::int64_t columns = 0;

  [[nodiscard]] bool known() const { return rows > 0 && columns > 0; }
  friend bool operator==(const Matrix&, const Matrix&) = default;
};

// The operands of a forward matmul. A weight may be transposed.
struct Matmul {
  Matrix input;  // all leading dimensions folded into rows
  Matrix weight;
  [[nodiscard]] bool known() const { return input.known() && weight.known(); }
};

// Operands from the recorded sizes of aten::linear, addmm, mm or matmul: "[[8, 512], [64, 512], [64]]". Nothing known
// for another operator, or where sizes are missing or not of that form.
[[nodiscard]] Matmul matmul_of(OpKind op, std::string_view sizes);

// The dimensions of such an operator's result, from the sizes of its operands.
[[nodiscard]] Matrix result_of(OpKind op, std::string_view sizes);

struct Gradient {
  Phase phase = Phase::kBackward;
  Rule rule = Rule::kUnsplit;
};

// Which gradient a matmul inside a backward node computes. `earlier` matmuls of this node came before it; `order` is
// the node's kind. PyTorch's generated code computes AddmmBackward's input gradient first and MmBackward's second
// operand first (seen with record_shapes in version 1.13).
[[nodiscard]] Gradient gradient_of(const Matmul& forward, const Matrix& result, NodeKind order, int earlier);

}  // namespace debubble::attribution
