#include "gpu/workload/layer_ops.hpp"

#include <algorithm>

namespace debubble {
namespace {

constexpr float kEpsilon = 1e-5F;

MatrixView plain(DeviceAddress data, std::int64_t rows, std::int64_t columns) {
  return {data, rows, columns, columns, 0};
}

std::string_view activation_forward(const Shard& shard) {
  if (shard.activation == ActivationKind::kGelu) return shard.gated ? "geglu_forward" : "gelu_forward";
  return shard.gated ? "swiglu_forward" : "silu_forward";
}

std::string_view activation_backward(const Shard& shard) {
  if (shard.activation == ActivationKind::kGelu) return shard.gated ? "geglu_backward" : "gelu_backward";
  return shard.gated ? "swiglu_backward" : "silu_backward";
}

bool has_mean(const Shard& shard) { return shard.norm == NormKind::kLayerNorm; }

}  // namespace

void LayerOps::fill(DeviceAddress out, std::int64_t count, std::int64_t seed, float mean, float deviation) {
  const std::int64_t blocks = std::clamp<std::int64_t>(count / 2048, 1, 65536);
  launch("fill_normal", blocks, kKernelThreads, out, count, seed, mean, deviation);
}

void LayerOps::multiply(const LinearBuffers& linear, DeviceAddress x, DeviceAddress out) {
  Gemm step;
  step.a = plain(x, shard_.tokens(), linear.in);
  step.b = plain(linear.weight, linear.out, linear.in);
  step.c = plain(out, shard_.tokens(), linear.out);
  step.transpose_b = true;
  step.type = shard_.type;
  device_.gemm(step);
}

void LayerOps::input_grad(const LinearBuffers& linear, DeviceAddress dout, DeviceAddress dx) {
  Gemm step;
  step.a = plain(dout, shard_.tokens(), linear.out);
  step.b = plain(linear.weight, linear.out, linear.in);
  step.c = plain(dx, shard_.tokens(), linear.in);
  step.type = shard_.type;
  device_.gemm(step);
}

void LayerOps::weight_grad(const LinearBuffers& linear, DeviceAddress dout, DeviceAddress x, DeviceAddress partials) {
  Gemm step;
  step.a = plain(dout, shard_.tokens(), linear.out);
  step.b = plain(x, shard_.tokens(), linear.in);
  step.c = plain(linear.weight_grad, linear.out, linear.in);
  step.transpose_a = true;
  step.beta = 1.0F;
  step.type = shard_.type;
  step.fp32_output = true;
  device_.gemm(step);
  if (linear.bias == 0) return;
  const ColumnSplit split = column_blocks(shard_.tokens(), linear.out, shard_.type);
  launch("bias_grad", split.blocks, kKernelThreads, dout, partials, shard_.tokens(), linear.out, split.chunk);
  add_partials(partials, linear.bias_grad, split.chunks, linear.out);
}

void LayerOps::add_partials(DeviceAddress partials, DeviceAddress out, std::int64_t chunks, std::int64_t width) {
  launch("add_partials", (width + kKernelThreads - 1) / kKernelThreads, kKernelThreads, partials, out, chunks, width);
}

std::int64_t LayerOps::partial_floats(std::int64_t width) const {
  return column_blocks(shard_.tokens(), width, shard_.type).chunks * width;
}

std::int64_t LayerOps::norm_partial_floats() const {
  return column_blocks(shard_.tokens(), shard_.hidden, shard_.type).chunks * shard_.norm_width();
}

void LayerOps::normalise(const Norm& norm, DeviceAddress x, DeviceAddress out) {
  launch_rows(has_mean(shard_) ? "layer_norm_forward" : "rms_norm_forward", shard_.tokens(), shard_.hidden, x,
              norm.weight, out, norm.mean, norm.rstd, shard_.tokens(), shard_.hidden, kEpsilon);
}

void LayerOps::normalise_back(const Norm& norm, DeviceAddress dout, DeviceAddress x, DeviceAddress residual_grad,
                              DeviceAddress dx) {
  launch_rows(has_mean(shard_) ? "layer_norm_backward" : "rms_norm_backward", shard_.tokens(), shard_.hidden, dout, x,
              norm.weight, norm.mean, norm.rstd, residual_grad, dx, shard_.tokens(), shard_.hidden);
}

void LayerOps::norm_weight_grad(const Norm& norm, DeviceAddress dout, DeviceAddress x, DeviceAddress partials) {
  const ColumnSplit split = column_blocks(shard_.tokens(), shard_.hidden, shard_.type);
  launch(has_mean(shard_) ? "layer_norm_weight_grad" : "rms_norm_weight_grad", split.blocks, kKernelThreads, dout, x,
         norm.mean, norm.rstd, partials, shard_.tokens(), shard_.hidden, split.chunk);
  add_partials(partials, norm.weight_grad, split.chunks, shard_.norm_width());
}

void LayerOps::add_bias(DeviceAddress x, DeviceAddress bias, std::int64_t width) {
  if (bias != 0) launch_rows("bias_add", shard_.tokens(), width, x, bias, shard_.tokens(), width);
}

void LayerOps::add_residual(DeviceAddress x, DeviceAddress bias, DeviceAddress residual, DeviceAddress out) {
  launch_rows("residual_add", shard_.tokens(), shard_.hidden, x, bias, residual, out, shard_.tokens(), shard_.hidden);
}

void LayerOps::activate(DeviceAddress in, DeviceAddress bias, DeviceAddress out) {
  launch_rows(activation_forward(shard_), shard_.tokens(), shard_.feed_forward, in, bias, out, shard_.tokens(),
              shard_.feed_forward);
}

void LayerOps::activate_back(DeviceAddress in, DeviceAddress bias, DeviceAddress dout, DeviceAddress din) {
  launch_rows(activation_backward(shard_), shard_.tokens(), shard_.feed_forward, in, bias, dout, din, shard_.tokens(),
              shard_.feed_forward);
}

}  // namespace debubble
