// The orders in which a plan may lay ranks out on the cluster: which ranks are neighbours.
//
//     tp-cp-dp-pp    data ranks nearer than pipeline stages: what Megatron-LM, torchtitan and DeepSpeed do
//     tp-cp-pp-dp    pipeline stages nearer than data ranks: Megatron-LM's --use-tp-pp-dp-mapping
//
// Several orders may put every rank on a device that is as good: then the first of them stands for all.
#pragma once

#include <string>
#include <vector>

#include "sim/core/rank_layout.hpp"
#include "studies/plan/choice.hpp"

namespace debubble {

inline constexpr const char* kUsualRankOrder = "tp-cp-dp-pp";
inline constexpr const char* kPipelineInside = "tp-cp-pp-dp";

// "tp-cp-pp-dp" of the order; empty for the usual one.
[[nodiscard]] std::string rank_order_word(const std::vector<Dimension>& order);

// The words of `orders` (as --rank-order takes them, with '-' for ','; "" is the usual one) that place the ranks of
// this choice differently, each class by its first. `machine`: GPUs of a machine, where all machines are as far from
// each other and so are the GPUs inside one; 0: nothing is known, and only ranks that do not move are alike.
[[nodiscard]] std::vector<std::string> distinct_rank_orders(const PlanChoice& choice,
                                                            const std::vector<std::string>& orders, int machine);

// Those that --fix and --only name, checked; the two of frameworks where they name none. Throws InputError B015.
[[nodiscard]] std::vector<std::string> allowed_rank_orders(const std::vector<std::string>* named,
                                                           const std::string& place);

}  // namespace debubble
