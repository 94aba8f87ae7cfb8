// The float64 reference's gradients against finite differences of its own outputs: for every parameter and input, the
// slope along a random direction.
#include "gpu/workload/reference.hpp"

#include <random>

#include "gpu/workload/layers.hpp"
#include "sim/core/model_presets.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

using Reference = std::function<void(NumberMap&)>;

class Source {
 public:
  Numbers numbers(std::int64_t count, double mean, double deviation) {
    Numbers result;
    for (std::int64_t i = 0; i < count; ++i) {
      const double uniform = static_cast<double>(generator_() >> 11) * std::ldexp(1.0, -53);
      result.push_back(mean + deviation * (2 * uniform - 1));
    }
    return result;
  }

 private:
  std::mt19937_64 generator_{42};
};

// The scalar whose gradients a layer's passes compute: the output against dy, or the head's scaled mean loss.
double scalar_of(const Shard& shard, const NumberMap& layer) {
  double sum = 0;
  if (layer.contains("loss")) {
    for (const double loss : layer.at("loss")) sum += loss;
    return sum * loss_scale(shard.type) / static_cast<double>(shard.tokens());
  }
  const Numbers& y = layer.at("y");
  for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * layer.at("dy")[i];
  return sum;
}

double slope_along(const Shard& shard, NumberMap layer, const std::string& name, const Numbers& direction,
                   const Reference& reference) {
  constexpr double kStep = 1e-5;
  const auto moved = [&](double step) {
    NumberMap copy = layer;
    for (std::size_t i = 0; i < direction.size(); ++i) copy.at(name)[i] += step * direction[i];
    reference(copy);
    return scalar_of(shard, copy);
  };
  return (moved(kStep) - moved(-kStep)) / (2 * kStep);
}

void check_gradients(const Shard& shard, const NumberMap& given, const std::vector<std::string>& names,
                     const Reference& reference) {
  Source source;
  NumberMap layer = given;
  reference(layer);
  for (const std::string& name : names) {
    CAPTURE(name);
    const Numbers direction = source.numbers(static_cast<std::int64_t>(given.at(name).size()), 0, 1);
    const Numbers& gradient = layer.at(name == "x" ? "dx" : name + "_grad");
    REQUIRE(gradient.size() == direction.size());
    double expected = 0;
    for (std::size_t i = 0; i < direction.size(); ++i) expected += gradient[i] * direction[i];
    CHECK(slope_along(shard, given, name, direction, reference) == doctest::Approx(expected).epsilon(1e-6));
    CHECK(std::abs(expected) > 1e-6);  // or the comparison would say nothing
  }
}

Shard small(const char* preset, ActivationKind activation) {
  TransformerShape shape = model_preset(preset);
  shape.activation = activation;
  return shard_of(shape, WorkloadSize{2, 5, 1, DataType::kFp32});
}

void check_block(const Shard& shard) {
  Source source;
  NumberMap layer;
  const std::int64_t plane = shard.tokens() * shard.hidden;
  layer["x"] = source.numbers(plane, 0, 1);
  layer["dy"] = source.numbers(plane, 0, 1);
  std::vector<std::string> names{"x", "norm1", "norm2"};
  for (const char* norm : {"norm1", "norm2"}) layer[norm] = source.numbers(shard.norm_width(), 1, 0.3);
  const auto add_linear = [&](const std::string& name, std::int64_t in, std::int64_t out, bool bias) {
    layer[name + ".weight"] = source.numbers(in * out, 0, 2 / std::sqrt(static_cast<double>(in)));
    names.push_back(name + ".weight");
    if (!bias) return;
    layer[name + ".bias"] = source.numbers(out, 0, 0.3);
    names.push_back(name + ".bias");
  };
  add_linear("qkv", shard.hidden, shard.qkv_width(), shard.qkv_biases);
  add_linear("proj", shard.context_width(), shard.hidden, shard.biases);
  add_linear("up", shard.hidden, shard.mlp_width(), shard.biases);
  add_linear("down", shard.feed_forward, shard.hidden, shard.biases);
  check_gradients(shard, layer, names, [&](NumberMap& numbers) { reference_block(shard, 100, numbers); });
}

TEST_CASE("the reference block's gradients are the slopes of its output") {
  for (const ActivationKind activation : {ActivationKind::kGelu, ActivationKind::kSilu}) {
    check_block(small("tiny-gpt", activation));
    check_block(small("tiny-llama", activation));
  }
}

TEST_CASE("the reference head's gradients are the slopes of its loss") {
  for (const char* preset : {"tiny-gpt", "tiny-llama"}) {
    const Shard shard = small(preset, ActivationKind::kGelu);
    Source source;
    NumberMap layer;
    layer["x"] = source.numbers(shard.tokens() * shard.hidden, 0, 1);
    layer["norm"] = source.numbers(shard.norm_width(), 1, 0.3);
    layer["weight"] = source.numbers(shard.vocabulary * shard.hidden, 0, 0.3);
    for (int i = 0; i < shard.tokens(); ++i) layer["targets"].push_back(i * 13 % 140);  // some beyond the vocabulary
    check_gradients(shard, layer, {"x", "norm", "weight"}, [&](NumberMap& numbers) { reference_head(shard, numbers); });
  }
}

TEST_CASE("the reference embedding's gradients are the slopes of its output") {
  const Shard shard = small("tiny-gpt", ActivationKind::kGelu);
  Source source;
  NumberMap layer;
  layer["word"] = source.numbers(shard.vocabulary * shard.hidden, 0, 1);
  layer["position"] = source.numbers(shard.positions * shard.hidden, 0, 1);
  layer["dy"] = source.numbers(shard.tokens() * shard.hidden, 0, 1);
  for (int i = 0; i < shard.tokens(); ++i) layer["tokens"].push_back(i * 29 % 150);
  check_gradients(shard, layer, {"word", "position"}, [&](NumberMap& numbers) { reference_embedding(shard, numbers); });
}

}  // namespace
}  // namespace debubble
