#include "cost_models/transformer/measured_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace debubble {
namespace {

double octaves(std::int64_t a, std::int64_t b) {
  return std::abs(std::log2(static_cast<double>(a)) - std::log2(static_cast<double>(b)));
}

// Between kernels of different kinds nothing can be said; a batch of matmuls is another kernel than one.
double distance(const LayerOp& op, const MeasuredShape& shape) {
  const bool other = shape.kind != op.kind || shape.phase != op.phase || (shape.batch > 1) != (op.batch > 1);
  if (other || op.batch < 1 || op.m < 1 || op.n < 1 || op.k < 1) {
    return std::numeric_limits<double>::infinity();
  }
  const double rest = octaves(shape.n, op.n) + octaves(shape.k, op.k);
  // Attention works on queries of all heads alike: how many there are together fills the device.
  if (op.kind == LayerOp::Kind::kAttention) return octaves(shape.batch * shape.m, op.batch * op.m) + rest;
  return octaves(shape.batch, op.batch) + octaves(shape.m, op.m) + rest;
}

}  // namespace

std::optional<double> measured_share(const LayerOp& op, const std::vector<MeasuredShape>& measured,
                                     const std::function<double(const LayerOp&)>& modelled) {
  constexpr double kFurthest = 2;  // octaves
  const MeasuredShape* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const MeasuredShape& shape : measured) {
    const double away = distance(op, shape);
    if (away >= least) continue;
    least = away;
    nearest = &shape;
  }
  if (nearest == nullptr || least > kFurthest) return std::nullopt;
  if (least == 0) return nearest->efficiency;  // for attention, too: as many queries on as many keys
  LayerOp other = op;
  other.batch = nearest->batch;
  other.m = nearest->m;
  other.n = nearest->n;
  other.k = nearest->k;
  return std::min(1.0, nearest->efficiency * modelled(op) / modelled(other));
}

}  // namespace debubble
