#include "gpu/workload/layer_parts.hpp"

#include <cmath>
#include <random>

namespace debubble {

DeviceAddress LayerParts::filled(const std::string& name, Purpose purpose, std::int64_t elements, float mean,
                                 float deviation) {
  const DeviceAddress data = buffers_.add(name, purpose, elements);
  const std::int64_t seed = seed_++;  // the next buffer gets the next one, whoever filled this one
  if (!buffers_.newest_is_lent()) ops_.fill(data, elements, seed, mean, deviation);
  return data;
}

DeviceAddress LayerParts::random(const std::string& name, Purpose purpose, std::int64_t elements) {
  return filled(name, purpose, elements, 0.0F, 1.0F);
}

DeviceAddress LayerParts::parameter(const std::string& name, std::int64_t elements, float mean, float deviation,
                                    DeviceAddress* gradient) {
  *gradient = buffers_.add(name + "_grad", Purpose::kGradient, elements, Element::kFloat);
  if (!buffers_.newest_is_lent()) ops_.device().zero(*gradient, elements * 4);
  return filled(name, Purpose::kParameter, elements, mean, deviation);
}

LinearBuffers LayerParts::linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias) {
  LinearBuffers result;
  result.in = in;
  result.out = out;
  const float deviation = 1.0F / std::sqrt(static_cast<float>(in));
  result.weight = parameter(name + ".weight", in * out, 0.0F, deviation, &result.weight_grad);
  if (bias) result.bias = parameter(name + ".bias", out, 0.0F, 0.1F, &result.bias_grad);
  return result;
}

Norm LayerParts::norm(const std::string& name) {
  const Shard& shard = ops_.shard();
  Norm result;
  result.weight = parameter(name, shard.norm_width(), 1.0F, 0.1F, &result.weight_grad);
  if (shard.norm == NormKind::kLayerNorm) {
    result.mean = buffers_.add(name + "_mean", Purpose::kKeptForW, shard.tokens(), Element::kFloat);
  }
  result.rstd = buffers_.add(name + "_rstd", Purpose::kKeptForW, shard.tokens(), Element::kFloat);
  return result;
}

std::vector<std::int32_t> random_tokens(std::int64_t count, std::int64_t end, std::int64_t seed) {
  std::mt19937_64 generator(static_cast<std::uint64_t>(seed));  // its numbers are fixed by the standard
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
  for (std::int32_t& token : tokens) {
    token = static_cast<std::int32_t>(generator() % static_cast<std::uint64_t>(end));
  }
  return tokens;
}

}  // namespace debubble
