// The three layers in float64 and plain loops: what the kernels are held to. Nothing is shared with them but the order
// of the numbers in memory (shard.hpp).
//
// A layer's numbers go by its buffers' names (layers.hpp). Each function reads parameters, inputs and output gradients,
// and adds outputs, input gradients and weight gradients of one microbatch; other entries stay as they are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gpu/workload/shard.hpp"

namespace debubble {

using Numbers = std::vector<double>;
using NumberMap = std::map<std::string, Numbers>;

// tokens, word[, position], dy -> y, word_grad[, position_grad]
void reference_embedding(const Shard& shard, NumberMap& layer);

// x, dy, norm1, qkv.weight[, qkv.bias], proj..., norm2, up..., down... -> y, dx, norm1_grad, qkv.weight_grad, ...
void reference_block(const Shard& shard, double rotary_base, NumberMap& layer);

// x, targets, norm, weight -> loss, dx, norm_grad, weight_grad; gradients are of the mean loss times loss_scale.
void reference_head(const Shard& shard, NumberMap& layer);

}  // namespace debubble
