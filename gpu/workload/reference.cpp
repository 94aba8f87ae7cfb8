#include "gpu/workload/reference.hpp"

#include <cmath>

#include "gpu/workload/layers.hpp"
#include "gpu/workload/reference_math.hpp"

namespace debubble {
namespace {

using reference::LinearGrads;
using reference::Matrix;
using reference::NormGrads;

Numbers find_or_none(const NumberMap& layer, const std::string& name) {
  const auto found = layer.find(name);
  return found == layer.end() ? Numbers{} : found->second;
}

Matrix token_rows(const Shard& shard, const NumberMap& layer, const std::string& name) {
  return {static_cast<std::size_t>(shard.tokens()), static_cast<std::size_t>(shard.hidden), layer.at(name)};
}

Matrix linear_of(const NumberMap& layer, const std::string& name, const Matrix& x) {
  return reference::linear(x, layer.at(name + ".weight"), find_or_none(layer, name + ".bias"));
}

// Writes the weight gradients and returns the input gradient.
Matrix linear_back(NumberMap& layer, const std::string& name, const Matrix& x, const Matrix& dy) {
  LinearGrads grads = reference::linear_grads(x, layer.at(name + ".weight"), dy);
  layer[name + ".weight_grad"] = std::move(grads.weight);
  if (layer.contains(name + ".bias")) layer[name + ".bias_grad"] = std::move(grads.bias);
  return std::move(grads.dx);
}

Matrix norm_back(const Shard& shard, NumberMap& layer, const std::string& name, const Matrix& x, const Matrix& dy) {
  NormGrads grads = reference::norm_grads(shard.norm, x, layer.at(name), dy);
  layer[name + "_grad"] = std::move(grads.weight);
  return std::move(grads.dx);
}

}  // namespace

void reference_embedding(const Shard& shard, NumberMap& layer) {
  const auto width = static_cast<std::size_t>(shard.hidden);
  const Matrix dy = token_rows(shard, layer, "dy");
  Matrix y(dy.rows, width);
  const Numbers& word = layer.at("word");
  const Numbers position = find_or_none(layer, "position");
  Numbers word_grad(word.size());
  Numbers position_grad(position.size());
  for (std::size_t row = 0; row < dy.rows; ++row) {
    const auto token = static_cast<std::size_t>(layer.at("tokens")[row]);
    const std::size_t place = row / static_cast<std::size_t>(shard.samples);
    for (std::size_t column = 0; column < width; ++column) {
      if (token * width < word.size()) {
        y.at(row, column) += word[token * width + column];
        word_grad[token * width + column] += dy.at(row, column);
      }
      if (position.empty()) continue;
      y.at(row, column) += position[place * width + column];
      position_grad[place * width + column] += dy.at(row, column);
    }
  }
  layer["y"] = y.values;
  layer["word_grad"] = word_grad;
  if (!position.empty()) layer["position_grad"] = position_grad;
}

void reference_block(const Shard& shard, double rotary_base, NumberMap& layer) {
  const Matrix x = token_rows(shard, layer, "x");
  const Matrix n1 = reference::normalise(shard.norm, x, layer.at("norm1"));
  const Matrix qkv = reference::turned(shard, rotary_base, linear_of(layer, "qkv", n1), 1);
  const Matrix context = reference::attention(shard, qkv);
  const Matrix x2 = reference::sum(x, linear_of(layer, "proj", context));
  const Matrix n2 = reference::normalise(shard.norm, x2, layer.at("norm2"));
  const Matrix up = linear_of(layer, "up", n2);
  const Matrix active = reference::activate(shard.activation, shard.gated, up);
  layer["y"] = reference::sum(x2, linear_of(layer, "down", active)).values;

  const Matrix dy = token_rows(shard, layer, "dy");
  const Matrix dactive = linear_back(layer, "down", active, dy);
  const Matrix dup = reference::activate_grad(shard.activation, shard.gated, up, dactive);
  const Matrix dn2 = linear_back(layer, "up", n2, dup);
  const Matrix dx2 = reference::sum(dy, norm_back(shard, layer, "norm2", x2, dn2));
  const Matrix dcontext = linear_back(layer, "proj", context, dx2);
  const Matrix dqkv = reference::turned(shard, rotary_base, reference::attention_grad(shard, qkv, dcontext), -1);
  const Matrix dn1 = linear_back(layer, "qkv", n1, dqkv);
  layer["dx"] = reference::sum(dx2, norm_back(shard, layer, "norm1", x, dn1)).values;
}

void reference_head(const Shard& shard, NumberMap& layer) {
  const Matrix x = token_rows(shard, layer, "x");
  const Matrix n = reference::normalise(shard.norm, x, layer.at("norm"));
  Matrix logits = reference::linear(n, layer.at("weight"), {});
  const double scale = loss_scale(shard.type) / static_cast<double>(shard.tokens());
  Numbers loss(x.rows);
  for (std::size_t row = 0; row < x.rows; ++row) {
    const auto target = static_cast<std::size_t>(layer.at("targets")[row]);
    double total = 0;
    for (std::size_t column = 0; column < logits.columns; ++column) total += std::exp(logits.at(row, column));
    loss[row] = std::log(total) - (target < logits.columns ? logits.at(row, target) : 0);
    for (std::size_t column = 0; column < logits.columns; ++column) {
      const double hit = column == target ? 1 : 0;
      logits.at(row, column) = scale * (std::exp(logits.at(row, column)) / total - hit);
    }
  }
  layer["loss"] = loss;
  LinearGrads grads = reference::linear_grads(n, layer.at("weight"), logits);
  layer["weight_grad"] = grads.weight;
  layer["dx"] = norm_back(shard, layer, "norm", x, grads.dx).values;
}

}  // namespace debubble
