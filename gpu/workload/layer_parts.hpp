// What the layers share in the making: parameters with their gradients, filled with random numbers.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/workload/layer_buffers.hpp"
#include "gpu/workload/layer_ops.hpp"

namespace debubble {

class LayerParts {
 public:
  LayerParts(LayerBuffers& buffers, LayerOps& ops, std::int64_t seed) : buffers_(buffers), ops_(ops), seed_(seed) {}

  // Normal numbers: weights so that outputs are of the size of inputs, biases small. Buffers "NAME.weight",
  // "NAME.bias", "NAME.weight_grad", "NAME.bias_grad".
  LinearBuffers linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias);
  // Weights around 1. Buffers NAME, "NAME_grad", "NAME_mean", "NAME_rstd".
  Norm norm(const std::string& name);
  // A parameter with its gradient, which is zero at first. Buffers NAME and "NAME_grad".
  DeviceAddress parameter(const std::string& name, std::int64_t elements, float mean, float deviation,
                          DeviceAddress* gradient);
  // Random numbers around 0 with deviation 1.
  DeviceAddress random(const std::string& name, Purpose purpose, std::int64_t elements);

 private:
  DeviceAddress filled(const std::string& name, Purpose purpose, std::int64_t elements, float mean, float deviation);

  LayerBuffers& buffers_;
  LayerOps& ops_;
  std::int64_t seed_;  // of the next buffer
};

// `count` numbers from 0 to `end` - 1, the same ones for the same seed everywhere.
[[nodiscard]] std::vector<std::int32_t> random_tokens(std::int64_t count, std::int64_t end, std::int64_t seed);

}  // namespace debubble
