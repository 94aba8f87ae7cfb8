#include <algorithm>
#include <cmath>

#include "cost_models/transformer/block_ops.hpp"

namespace debubble {
namespace {

// Up, activation, down: of a dense block, of shared experts, or of `experts` routed ones on this rank.
struct MlpSizes {
  const char* name = "mlp";
  std::int64_t rows = 0;   // tokens each works on
  std::int64_t width = 0;  // of this rank
  std::int64_t experts = 1;
  double imbalance = 1;
  bool activation_again = false;  // made again before its backward
  bool routed = false;
};

void add_mlp_layer(const TrainingSetup& setup, const MlpSizes& mlp, TensorSide up, TensorSide down, OpList& list) {
  const TransformerShape& shape = setup.shape;
  const std::int64_t width = mlp.width;
  const std::int64_t inputs = shape.gated ? 2 : 1;
  const bool biases = shape.biases || shape.mlp_biases;
  const std::string name = mlp.name;
  list.begin_part();
  Linear first{name + " up", mlp.rows, shape.hidden, inputs * width, mlp.experts, mlp.imbalance};
  first.user_buffers = true;
  first.bias = biases;
  if (shape.gated) first.joins = {width, width};
  first.never_kept = mlp.routed;
  list.linear(first, up);
  list.begin_part();
  const std::int64_t numbers = mlp.experts * mlp.rows * width;
  const Bytes plane = numbers * list.sizes().element;
  PassWork work;
  work.forward = static_cast<double>(inputs * numbers);
  work.backward = static_cast<double>((3 * inputs - 1) * numbers);
  // Behind the product, its inputs are written once, for the backward; their gradient replaces the output's.
  work.forward_joins = work.backward_joins = LayerOp::Joins::kProductOrPass;
  work.forward_fusable = inputs * plane;
  work.backward_fusable = 2 * plane;
  // GELU: reads one, writes one; its gradient reads two. Gated: reads two; its gradient reads three, writes two.
  list.elementwise(name + " activation", (inputs + 1) * plane, (2 * inputs + 1) * plane, 1, 1, work);
  if (mlp.activation_again) list.recompute_from(list.parts() - 1);
  list.begin_part();
  Linear second{name + " down", mlp.rows, width, shape.hidden, mlp.experts, mlp.imbalance};
  second.user_buffers = true;
  second.bias = biases;
  second.never_kept = mlp.routed;
  list.linear(second, down);
}

// Tokens that one expert works on: capacity pads or drops to the same for all, else the busiest rank's decide.
std::int64_t expert_rows(const TrainingSetup& setup, const RankSizes& sizes) {
  const TransformerShape& shape = setup.shape;
  const double routed = static_cast<double>(sizes.tokens * shape.experts_per_token * setup.parallel.expert) *
                        tokens_gathered(setup.parallel);
  const double factor = setup.capacity_factor > 0 ? setup.capacity_factor : setup.expert_imbalance;
  return std::max<std::int64_t>(1, std::llround(std::ceil(routed * factor / static_cast<double>(shape.experts))));
}

void add_router(const TrainingSetup& setup, OpList& list) {
  const TransformerShape& shape = setup.shape;
  const RankSizes& sizes = list.sizes();
  list.begin_part();
  Linear router{"router", sizes.row_share, shape.hidden, shape.experts, 1, 1, true};  // as the logits
  router.never_kept = true;
  list.linear(router);
  // Scores in 32 bits: softmax or sigmoid, the largest few, their normalisation, and the map of tokens to experts.
  const Bytes scores = sizes.row_share * shape.experts * 4;
  PassWork work;  // as a softmax
  work.forward = 5 * static_cast<double>(scores / 4);
  work.backward = 4 * static_cast<double>(scores / 4);
  list.elementwise("routing", 8 * scores, 4 * scores, 10, 6, work);
}

// What lies on one rank around its experts, in bytes.
struct RoutedTokens {
  Bytes own = 0;       // of each token once
  Bytes sent = 0;      // all copies of them
  Bytes arrived = 0;   // of all ranks' tokens for this rank's experts
  Bytes everyone = 0;  // each token once, of all ranks that share the experts
  bool known = false;  // the exchange knows what a token is,
  Bytes landed = 0;    // and brings it once to each rank: what arrives before copies are made for its experts
};

RoutedTokens routed_tokens(const TrainingSetup& setup, const RankSizes& sizes, std::int64_t local, std::int64_t rows) {
  const TransformerShape& shape = setup.shape;
  const Bytes token = shape.hidden * sizes.element;
  // Each tensor rank sends its part of the tokens; before experts that are split over ranks, these gather them.
  const std::int64_t own = sizes.tensor > 1 ? share_of(sizes.tokens, sizes.tensor) : sizes.tokens;
  RoutedTokens routed;
  routed.own = own * token;
  routed.sent = routed.own * shape.experts_per_token;
  routed.arrived = local * rows * token;
  routed.everyone = routed.own * setup.parallel.expert * setup.parallel.split_of_expert();
  routed.known = sends_tokens(setup.dispatch) && setup.parallel.expert > 1;
  const TokenExchange exchange = token_exchange_of(setup);
  const double once = routed.known ? ranks_reached(exchange, setup.parallel.expert) : 0;
  routed.landed =
      std::llround(static_cast<double>(routed.arrived) * once / static_cast<double>(shape.experts_per_token));
  return routed;
}

// A weighted sum of a token's copies, whose weights have gradients, too.
PassWork weighted_sum(std::int64_t numbers) {
  PassWork weighted;
  weighted.forward = 2 * static_cast<double>(numbers);
  weighted.backward = 2 * weighted.forward;
  return weighted;
}

// 8-bit products take rows in multiples of 16 or 32. Megatron-LM's TEGroupedMLP copies each expert's rows apart before
// them and together behind (fp8_padding, fp8_unpadding), unless the router padded its map
// (--moe-router-padding-for-fp8, off by default and in NVIDIA's recipes). HybridEP permutes into padded rows, and a
// capacity is the same for all.
bool pads_rows(const TrainingSetup& setup) {
  const bool by_exchange = setup.dispatch == MoeDispatch::kHybrid && setup.parallel.expert > 1;
  return setup.compute == NumberFormat::kFp8 && setup.effects.padded_rows && !by_exchange && setup.capacity_factor == 0;
}

// Megatron-LM's allgather dispatcher: every rank gets all tokens of those that share the experts, takes the copies for
// its own, and adds their results up, of which each rank gets the sum for its tokens. One exchange over tensor and
// expert ranks there, here one over each.
void add_gathered_experts(const TrainingSetup& setup, const RoutedTokens& routed, const MlpSizes& mlp, OpList& list) {
  const Parallelism& parallel = setup.parallel;
  const Dimension splits = parallel.expert_tensor > 0 ? Dimension::kExpertTensor : Dimension::kTensor;
  const bool split = parallel.split_of_expert() > 1;
  const Bytes experts = routed.own * parallel.expert;
  const auto exchange = [&](const char* name, CollectiveKind there, CollectiveKind back, bool over_experts) {
    list.begin_part();
    list.collective(name, over_experts ? Dimension::kExpert : splits, there, back,
                    over_experts ? experts : routed.everyone);
  };
  const std::size_t first = list.parts();
  exchange("tokens to all experts", CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, true);
  if (split) exchange("tokens of the experts", CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, false);
  list.begin_part();
  list.elementwise("permute", 2 * routed.arrived, 2 * routed.arrived, 2, 2);
  add_mlp_layer(setup, mlp, TensorSide::kNone, TensorSide::kNone, list);
  if (setup.capacity_factor == 0) list.host_waits_before(first);
  list.begin_part();
  const Bytes sorted = routed.arrived + routed.everyone;
  list.elementwise("unpermute", sorted, sorted, 2, 2, weighted_sum(routed.arrived / list.sizes().element));
  if (split) exchange("results of the experts", CollectiveKind::kReduceScatter, CollectiveKind::kAllGather, false);
  exchange("results to their tokens", CollectiveKind::kReduceScatter, CollectiveKind::kAllGather, true);
}

// Tokens travel to their experts' ranks, and their results back. A plain all-to-all takes copies in the order of ranks,
// which are sorted by expert where they arrive. DeepEP and HybridEP take tokens as they are: Megatron-LM's flex
// dispatcher permutes once, from the tokens that landed to their copies for each expert (get_permuted_hidden_states_by_
// experts), and adds these up before the way back.
void add_routed_experts(const TrainingSetup& setup, OpList& list) {
  const TransformerShape& shape = setup.shape;
  const RankSizes& sizes = list.sizes();
  const Parallelism& parallel = setup.parallel;
  const double imbalance = setup.capacity_factor > 0 ? 1.0 : setup.expert_imbalance;
  const std::int64_t local = share_of(shape.experts, parallel.expert);
  const std::int64_t rows = expert_rows(setup, sizes);
  const RoutedTokens routed = routed_tokens(setup, sizes, local, rows);
  const bool split = parallel.split_of_expert() > 1;
  const Dimension splits = parallel.expert_tensor > 0 ? Dimension::kExpertTensor : Dimension::kTensor;
  const bool once = routed.known && setup.effects.one_permutation;
  const bool sorted = once || (parallel.expert > 1 && local > 1);
  const Bytes sorting = routed.arrived + (once ? routed.landed : routed.arrived);
  const auto pass = [&list](const char* name, Bytes bytes, int kernels, const PassWork& work) {
    list.begin_part();
    list.elementwise(name, bytes, bytes, kernels, kernels, work);
  };

  const bool activation_again =
      makes_again(setup, &RecomputeModules::moe_act) && !makes_again(setup, &RecomputeModules::moe);
  const std::int64_t width = share_of(shape.expert_feed_forward, parallel.split_of_expert());
  const MlpSizes mlp{"experts", rows, width, local, imbalance, activation_again, true};
  if (setup.dispatch == MoeDispatch::kAllGather && parallel.expert > 1) {
    return add_gathered_experts(setup, routed, mlp, list);
  }
  const std::size_t first = list.parts();
  if (!once) pass("permute", routed.own + routed.sent, 2, {});
  if (parallel.expert > 1) {
    list.begin_part();
    list.token_exchange("tokens to their experts", routed.sent, imbalance);
  }
  if (split) {
    list.begin_part();
    list.collective("tokens of the experts", splits, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                    routed.arrived);
  }
  if (sorted) pass("sort by expert", sorting, 1, {});
  if (pads_rows(setup)) pass("pad rows of experts", 2 * routed.arrived, 1, {});
  add_mlp_layer(setup, mlp, TensorSide::kNone, TensorSide::kNone, list);
  if (pads_rows(setup)) pass("unpad rows of experts", 2 * routed.arrived, 1, {});
  // How many tokens there are for each expert, the router decides on the GPU; buffers and products need it on the host.
  // A capacity pads or drops to sizes that are known before.
  if (setup.capacity_factor == 0) list.host_waits_before(first);
  if (sorted) {
    pass("sort by rank", sorting, 1, once ? weighted_sum(routed.arrived / sizes.element) : PassWork{});
  }
  if (split) {
    list.begin_part();
    list.collective("results of the experts", splits, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
                    routed.arrived);
  }
  if (parallel.expert > 1) {
    list.begin_part();
    list.token_exchange("results to their tokens", routed.sent, imbalance);
  }
  if (!once) pass("unpermute", routed.own + routed.sent, 2, weighted_sum(routed.sent / sizes.element));
}

}  // namespace

void add_dense_mlp(const TrainingSetup& setup, OpList& list) {
  const std::size_t first = list.parts();
  if (setup.shape.block_norms > 1) add_norm(setup, list, "norm before the mlp");
  const std::int64_t width = share_of(setup.shape.feed_forward, list.sizes().tensor);
  add_mlp_layer(setup, {"mlp", list.sizes().tokens, width}, TensorSide::kColumn, TensorSide::kRow, list);
  if (makes_again(setup, &RecomputeModules::mlp)) list.recompute_from(first);
  if (setup.shape.block_norms > 2) add_norm(setup, list, "norm after the mlp");
  add_residual(setup, list);
}

void add_experts(const TrainingSetup& setup, OpList& list) {
  const bool all_again = makes_again(setup, &RecomputeModules::moe);
  if (setup.shape.block_norms > 1) {
    add_norm(setup, list, "norm before the experts");
    if (makes_again(setup, &RecomputeModules::layernorm)) list.recompute_from(list.parts() - 1);
  }
  const std::size_t first = list.parts();
  add_router(setup, list);
  add_routed_experts(setup, list);
  if (setup.shape.shared_feed_forward > 0) {
    const std::size_t shared = list.parts();
    const std::int64_t width = share_of(setup.shape.shared_feed_forward, list.sizes().tensor);
    add_mlp_layer(setup, {"shared experts", list.sizes().tokens, width}, TensorSide::kColumn, TensorSide::kRow, list);
    if (makes_again(setup, &RecomputeModules::shared_experts) && !all_again) list.recompute_from(shared);
    const Bytes plane = list.sizes().row_share * setup.shape.hidden * list.sizes().element;
    if (setup.shape.shared_gate) {
      list.begin_part();  // a product with one column, a sigmoid, and their product with the experts' sum
      list.elementwise("gate of the shared experts", 3 * plane, 5 * plane, 3, 4);
    }
    list.begin_part();
    PassWork work;
    work.forward = static_cast<double>(plane / list.sizes().element);
    work.forward_joins = LayerOp::Joins::kProductOrPass;
    work.forward_fusable = 2 * plane;
    list.elementwise("sum of shared and routed experts", 3 * plane, 3 * plane, 1, 1, work);
  }
  if (all_again) list.recompute_from(first);
  if (setup.shape.block_norms > 2) add_norm(setup, list, "norm after the experts");
  add_residual(setup, list);
}

}  // namespace debubble
