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
enum class Dimension : std::uint8_t { kTensor, kContext, kExpert, kData, kPipeline };
inline constexpr int kDimensions = 5;
[[nodiscard]] const char* to_string(Dimension dimension);  // "tp", "cp", "ep", "dp", "pp"

// How many ranks work in each dimension. `expert` does not add ranks: it divides `data` (x context) for experts'
// layers.
struct Parallelism {
  int tensor = 1;
  int context = 1;
  int expert = 1;
  int data = 1;
  int pipeline = 1;
  bool sequence = false;  // activations between tensor-parallel regions are split over the tensor ranks
  int zero = 0;           // 0: all replicated; 1: optimizer state over `data`; 2: gradients, too; 3: weights, too

  [[nodiscard]] std::int64_t ranks() const { return static_cast<std::int64_t>(tensor) * context * data * pipeline; }
  friend bool operator==(const Parallelism&, const Parallelism&) = default;
};
// Ranks in one group of the dimension.
[[nodiscard]] int group_size(const Parallelism& sizes, Dimension dimension);

struct RankLayout {
  Parallelism sizes;
  // Fastest first; without kExpert. Megatron's order is tp, cp, dp, pp.
  std::vector<Dimension> order{Dimension::kTensor, Dimension::kContext, Dimension::kData, Dimension::kPipeline};
  std::vector<std::int32_t> devices;  // by rank: the cluster's device; empty: rank r is device r

  [[nodiscard]] std::int32_t device(int tensor, int context, int data, int pipeline) const;
  // All devices of a group: those that differ in one dimension only. `expert`: the ranks among which experts are split.
  [[nodiscard]] std::vector<std::int32_t> group(Dimension dimension, int tensor, int context, int data,
                                                int pipeline) const;
};

}  // namespace debubble
