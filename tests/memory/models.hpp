// The transformers whose memory was published or measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cost_models/transformer/setup.hpp"
#include "sim/core/profile.hpp"
#include "sim/core/stage_costs.hpp"

namespace debubble::testing {

inline constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

// 16-bit GPT as in Korthikanti et al.: dropout, scores stored, Adam with 32-bit gradients.
[[nodiscard]] TrainingSetup gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t sequence,
                                std::int64_t microbatch_size);

// LLaMA 3 with heads of 128: grouped heads, gated MLP, no biases, flash attention.
[[nodiscard]] TrainingSetup llama(std::int64_t layers, std::int64_t hidden, std::int64_t feed_forward,
                                  std::int64_t heads, std::int64_t kv_heads, std::int64_t sequence);

// DeepSeek-V2 or V3 with 128 heads, one dense block in front.
struct Experts {
  std::int64_t number = 0, per_token = 0, width = 0, shared_width = 0;
};
[[nodiscard]] TrainingSetup deepseek(std::int64_t layers, std::int64_t hidden, std::int64_t feed_forward,
                                     const Experts& experts, std::int64_t vocabulary, std::int64_t sequence);

// The whole modelled profile on an H100's times; only its sizes matter here.
[[nodiscard]] Profile profile_of(const TrainingSetup& setup);
// Of these, the blocks.
[[nodiscard]] Profile blocks_of(const TrainingSetup& setup);
[[nodiscard]] StageCosts stages_of(const Profile& profile, const std::vector<int>& partition);

}  // namespace debubble::testing
