// The parts of a transformer block, added to an OpList.
#pragma once

#include "cost_models/transformer/op_list.hpp"

namespace debubble {

// Norm, attention of any kind, residual.
void add_attention(const TrainingSetup& setup, OpList& list);
// Norm, dense MLP, residual.
void add_dense_mlp(const TrainingSetup& setup, OpList& list);
// Norm, router, routed and shared experts, residual.
void add_experts(const TrainingSetup& setup, OpList& list);

void add_norm(const TrainingSetup& setup, OpList& list, const char* name);
// Of a norm of so many numbers, `plane` bytes of them.
[[nodiscard]] PassWork norm_work(const TrainingSetup& setup, std::int64_t numbers, Bytes plane);
// The vocabulary's projection and the loss, after a norm.
void add_output_layer(const TrainingSetup& setup, OpList& list);
// What of a block's outputs is kept where the others are made again (keeps_outputs).
[[nodiscard]] OpList::Kept kept_outputs(const TrainingSetup& setup, const LayerPlace& layer);
// Dropout, where there is any, and the addition to what went around the part.
void add_residual(const TrainingSetup& setup, OpList& list);

}  // namespace debubble
