// The built-in transformer as a chain of layers that a partition cuts: embedding, blocks, head.
#pragma once

#include <string>
#include <vector>

#include "cost_models/partition/partition.hpp"
#include "gpu/workload/transformer_model.hpp"
#include "sim/core/assumption.hpp"

namespace debubble {

// A preset's name, or a config.json. Throws InputError (C003, C005, or for the file).
[[nodiscard]] TransformerShape model_shape(const std::string& model);

// Layers of each stage, embedding and head among them. An automatic cut balances the matmuls, counted and not
// timed: that much is known before anything runs. Adds what was assumed. Throws what partitions of a profile do.
[[nodiscard]] std::vector<int> model_partition(const TransformerShape& shape, const WorkloadSize& size,
                                               const CutRule& choice, int stages, std::vector<Assumption>& assumptions);

}  // namespace debubble
