// Steps of the float64 reference, each with its gradients. Matrices are row-major.
#pragma once

#include <cstddef>
#include <functional>

#include "gpu/workload/reference.hpp"

namespace debubble::reference {

struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  Numbers values;

  Matrix() = default;
  Matrix(std::size_t row_count, std::size_t column_count)
      : rows(row_count), columns(column_count), values(row_count * column_count) {}
  Matrix(std::size_t row_count, std::size_t column_count, Numbers numbers);  // throws std::logic_error: another size

  [[nodiscard]] double& at(std::size_t row, std::size_t column) { return values[row * columns + column]; }
  [[nodiscard]] double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

// y = x * transposed weight + bias; weight is [out, in], an empty bias means none.
[[nodiscard]] Matrix linear(const Matrix& x, const Numbers& weight, const Numbers& bias);

struct LinearGrads {
  Matrix dx;
  Numbers weight;
  Numbers bias;
};
[[nodiscard]] LinearGrads linear_grads(const Matrix& x, const Numbers& weight, const Matrix& dy);

// `weight` is followed by the biases for LayerNorm. Epsilon is 1e-5.
[[nodiscard]] Matrix normalise(NormKind kind, const Matrix& x, const Numbers& weight);

struct NormGrads {
  Matrix dx;
  Numbers weight;  // and biases
};
[[nodiscard]] NormGrads norm_grads(NormKind kind, const Matrix& x, const Numbers& weight, const Matrix& dy);

// `in` is twice as wide when gated.
[[nodiscard]] Matrix activate(ActivationKind kind, bool gated, const Matrix& in);
[[nodiscard]] Matrix activate_grad(ActivationKind kind, bool gated, const Matrix& in, const Matrix& dout);

// Causal attention over rows of query/key/value groups (shard.hpp), after or before the rotary positions.
[[nodiscard]] Matrix attention(const Shard& shard, const Matrix& qkv);
[[nodiscard]] Matrix attention_grad(const Shard& shard, const Matrix& qkv, const Matrix& dcontext);

// Turns queries and keys by their positions' angles, times `direction`; a shard with learned positions stays as it is.
[[nodiscard]] Matrix turned(const Shard& shard, double base, Matrix qkv, double direction);

[[nodiscard]] Matrix sum(const Matrix& a, const Matrix& b);

}  // namespace debubble::reference
