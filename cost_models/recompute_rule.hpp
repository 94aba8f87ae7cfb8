// Which blocks recompute where not all of them do, and what stays in memory where one input is kept for several.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/core/profile.hpp"

namespace debubble {

struct RecomputeRule {
  enum class How {
    kAll,
    kFirst,   // the first `number` of each stage: Megatron-LM's --recompute-method block
    kEvery,   // every `number`-th of a device, as torchtitan counted them up to 0.2
    kChunks,  // all, but of so many in a row on a stage the first one's input alone is kept: --recompute-method uniform
    kListed   // by their number in the model: Primus' recompute_layer_ids
  };
  How how = How::kAll;
  int number = 0;
  std::vector<int> listed{};  // sorted

  [[nodiscard]] bool some() const { return how != How::kAll; }
};

// "of the first 2 blocks of each stage".
[[nodiscard]] std::string to_string(const RecomputeRule& rule);

struct ModelBlock {
  std::size_t layer = 0;  // of the profile
  int number = 0;         // among the model's blocks
};

// One model, as its layers are without recomputation and with it.
struct BothWays {
  const Profile* plain = nullptr;
  const Profile* again = nullptr;
};

// Which of a stage's blocks recompute; `before` are the device's blocks on its earlier stages.
[[nodiscard]] std::vector<bool> recomputing(const RecomputeRule& rule, const std::vector<ModelBlock>& stage,
                                            int before);
// Puts these into `profile` as they are when they recompute.
void recompute_blocks(const RecomputeRule& rule, const std::vector<ModelBlock>& stage, int before,
                      const BothWays& layers, Profile& profile);

// How much of a block's recomputation a balance of `stages` stages counts: a number of each stage that all of them have
// is the same for all, and so it counts for none.
[[nodiscard]] double counted_share(const RecomputeRule& rule, int block, int blocks, int stages);

}  // namespace debubble
