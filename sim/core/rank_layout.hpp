// RankLayout: which device of the cluster works for which part of the job.
//
//     2 x 2 x 2 in the order tp, dp, pp       rank = t + 2 d + 4 s: tensor ranks are neighbours, pipeline stages far
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/units.hpp"

namespace debubble {

// The ways to split the job; the pipeline is one of them.
enum class Dimension : std::uint8_t { kTensor, kContext, kExpert, kData, kPipeline, kExpertTensor };
inline constexpr int kDimensions = 6;
[[nodiscard]] const char* to_string(Dimension dimension);  // "tp", "cp", "ep", "dp", "pp", "etp"

// How many ranks work in each dimension. `expert` and `expert_tensor` add no ranks: for experts' layers they divide
// those of a stage (tensor x context x data) anew, neighbours first: ranks that split an expert, ranks that split the
// experts, and ranks that hold the same ones (Megatron-LM's parallel folding).
struct Parallelism {
  int tensor = 1;
  int context = 1;
  int expert = 1;
  int data = 1;
  int pipeline = 1;
  int expert_tensor = 0;  // ranks that split an expert's weights; 0: as many as `tensor`, and then it is never that
  bool sequence = false;  // activations between tensor-parallel regions are split over the tensor ranks
  int zero = 0;           // 0: all replicated; 1: optimizer state over `data`; 2: gradients, too; 3: weights, too

  [[nodiscard]] std::int64_t ranks() const { return static_cast<std::int64_t>(tensor) * context * data * pipeline; }
  [[nodiscard]] int split_of_expert() const { return expert_tensor > 0 ? expert_tensor : tensor; }
  // Ranks of a stage that hold the same weights, and the same experts.
  [[nodiscard]] std::int64_t copies() const { return static_cast<std::int64_t>(data) * context; }
  [[nodiscard]] std::int64_t expert_copies() const {
    const std::int64_t copies_of_one = this->copies() * tensor / (std::int64_t{split_of_expert()} * expert);
    return copies_of_one > 1 ? copies_of_one : 1;
  }
  friend bool operator==(const Parallelism&, const Parallelism&) = default;
};
// Ranks in one group of the dimension.
[[nodiscard]] int group_size(const Parallelism& sizes, Dimension dimension);

struct RankLayout {
  Parallelism sizes;
  // Fastest first; without experts' dimensions. Megatron's order is tp, cp, dp, pp.
  std::vector<Dimension> order{Dimension::kTensor, Dimension::kContext, Dimension::kData, Dimension::kPipeline};
  std::vector<std::int32_t> devices;  // by rank: the cluster's device; empty: rank r is device r

  [[nodiscard]] std::int32_t device(int tensor, int context, int data, int pipeline) const;
  // Of a stage's ranks by number: tensor ranks are neighbours, then context ranks, then data ranks.
  [[nodiscard]] std::int32_t device_of_stage(int rank, int pipeline) const;
  // All devices of a group: those that differ in one dimension only.
  [[nodiscard]] std::vector<std::int32_t> group(Dimension dimension, int tensor, int context, int data,
                                                int pipeline) const;
};

}  // namespace debubble
