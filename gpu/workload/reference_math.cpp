#include "gpu/workload/reference_math.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

namespace debubble::reference {
namespace {

constexpr double kEpsilon = 1e-5;

double value_of(ActivationKind kind, double x) {
  if (kind == ActivationKind::kSilu) return x / (1 + std::exp(-x));
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * std::pow(x, 3))));
}

double slope_of(ActivationKind kind, double x) {
  if (kind == ActivationKind::kSilu) {
    const double s = 1 / (1 + std::exp(-x));
    return s + x * s * (1 - s);
  }
  const double c = std::sqrt(2 / std::acos(-1.0));
  const double u = c * (x + 0.044715 * std::pow(x, 3));
  const double du = c * (1 + 3 * 0.044715 * x * x);
  return 0.5 * (1 + std::tanh(u)) + 0.5 * x * du / std::pow(std::cosh(u), 2);
}

// One row's mean (0 for RMSNorm) and one over its deviation.
std::pair<double, double> statistics(NormKind kind, const Matrix& x, std::size_t row) {
  const auto width = static_cast<double>(x.columns);
  double mean = 0;
  if (kind == NormKind::kLayerNorm) {
    for (std::size_t column = 0; column < x.columns; ++column) mean += x.at(row, column) / width;
  }
  double variance = 0;
  for (std::size_t column = 0; column < x.columns; ++column) variance += std::pow(x.at(row, column) - mean, 2) / width;
  return {mean, 1 / std::sqrt(variance + kEpsilon)};
}

}  // namespace

Matrix::Matrix(std::size_t row_count, std::size_t column_count, Numbers numbers)
    : rows(row_count), columns(column_count), values(std::move(numbers)) {
  if (values.size() != rows * columns) throw std::logic_error("a matrix of another size");
}

Matrix linear(const Matrix& x, const Numbers& weight, const Numbers& bias) {
  Matrix y(x.rows, weight.size() / x.columns);
  for (std::size_t row = 0; row < y.rows; ++row) {
    for (std::size_t out = 0; out < y.columns; ++out) {
      double sum = bias.empty() ? 0 : bias[out];
      for (std::size_t in = 0; in < x.columns; ++in) sum += x.at(row, in) * weight[out * x.columns + in];
      y.at(row, out) = sum;
    }
  }
  return y;
}

LinearGrads linear_grads(const Matrix& x, const Numbers& weight, const Matrix& dy) {
  LinearGrads grads{Matrix(x.rows, x.columns), Numbers(weight.size()), Numbers(dy.columns)};
  for (std::size_t row = 0; row < x.rows; ++row) {
    for (std::size_t out = 0; out < dy.columns; ++out) {
      const double grad = dy.at(row, out);
      grads.bias[out] += grad;
      for (std::size_t in = 0; in < x.columns; ++in) {
        grads.dx.at(row, in) += grad * weight[out * x.columns + in];
        grads.weight[out * x.columns + in] += grad * x.at(row, in);
      }
    }
  }
  return grads;
}

Matrix normalise(NormKind kind, const Matrix& x, const Numbers& weight) {
  Matrix y(x.rows, x.columns);
  for (std::size_t row = 0; row < x.rows; ++row) {
    const auto [mean, rstd] = statistics(kind, x, row);
    for (std::size_t column = 0; column < x.columns; ++column) {
      const double bias = kind == NormKind::kLayerNorm ? weight[x.columns + column] : 0;
      y.at(row, column) = (x.at(row, column) - mean) * rstd * weight[column] + bias;
    }
  }
  return y;
}

// By the Jacobian: d xhat[j] / d x[i] = rstd * ((i == j) - 1 / n - xhat[i] * xhat[j] / n), without 1 / n for RMSNorm.
NormGrads norm_grads(NormKind kind, const Matrix& x, const Numbers& weight, const Matrix& dy) {
  const bool centred = kind == NormKind::kLayerNorm;
  const std::size_t n = x.columns;
  NormGrads grads{Matrix(x.rows, n), Numbers(weight.size())};
  for (std::size_t row = 0; row < x.rows; ++row) {
    const auto [mean, rstd] = statistics(kind, x, row);
    Numbers normal(n);
    for (std::size_t j = 0; j < n; ++j) normal[j] = (x.at(row, j) - mean) * rstd;
    for (std::size_t j = 0; j < n; ++j) {
      grads.weight[j] += dy.at(row, j) * normal[j];
      if (centred) grads.weight[n + j] += dy.at(row, j);
      for (std::size_t i = 0; i < n; ++i) {
        const double jacobian =
            rstd * ((i == j ? 1.0 : 0.0) - ((centred ? 1.0 : 0.0) + normal[i] * normal[j]) / static_cast<double>(n));
        grads.dx.at(row, i) += dy.at(row, j) * weight[j] * jacobian;
      }
    }
  }
  return grads;
}

Matrix activate(ActivationKind kind, bool gated, const Matrix& in) {
  Matrix out(in.rows, gated ? in.columns / 2 : in.columns);
  for (std::size_t row = 0; row < out.rows; ++row) {
    for (std::size_t column = 0; column < out.columns; ++column) {
      const double factor = gated ? in.at(row, out.columns + column) : 1;
      out.at(row, column) = value_of(kind, in.at(row, column)) * factor;
    }
  }
  return out;
}

Matrix activate_grad(ActivationKind kind, bool gated, const Matrix& in, const Matrix& dout) {
  Matrix din(in.rows, in.columns);
  for (std::size_t row = 0; row < in.rows; ++row) {
    for (std::size_t column = 0; column < dout.columns; ++column) {
      const double x = in.at(row, column);
      const double factor = gated ? in.at(row, dout.columns + column) : 1;
      din.at(row, column) = dout.at(row, column) * factor * slope_of(kind, x);
      if (gated) din.at(row, dout.columns + column) = dout.at(row, column) * value_of(kind, x);
    }
  }
  return din;
}

Matrix turned(const Shard& shard, double base, Matrix qkv, double direction) {
  if (shard.positions > 0) return qkv;
  const auto size = static_cast<std::size_t>(shard.head_size);
  const auto slots = static_cast<std::size_t>(shard.queries) + 2;
  for (std::size_t row = 0; row < qkv.rows; ++row) {
    const auto position = static_cast<double>(row / static_cast<std::size_t>(shard.samples));
    for (std::size_t slot = 0; slot < qkv.columns / size; ++slot) {
      if (slot % slots == slots - 1) continue;  // a value
      for (std::size_t pair = 0; pair < size / 2; ++pair) {
        const double angle =
            direction * position * std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(size));
        double& low = qkv.at(row, slot * size + pair);
        double& high = qkv.at(row, slot * size + size / 2 + pair);
        const double old = low;
        low = old * std::cos(angle) - high * std::sin(angle);
        high = high * std::cos(angle) + old * std::sin(angle);
      }
    }
  }
  return qkv;
}

Matrix sum(const Matrix& a, const Matrix& b) {
  Matrix result = a;
  for (std::size_t i = 0; i < a.values.size(); ++i) result.values[i] += b.values[i];
  return result;
}

}  // namespace debubble::reference
