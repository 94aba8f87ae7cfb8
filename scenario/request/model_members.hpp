// The members of a model's shape by the keys of --model-size.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "sim/core/transformer.hpp"

namespace debubble {

struct SizeKey {
  const char* name;
  std::int64_t TransformerShape::*size;
  std::int64_t least = 0;
};
inline constexpr std::array<SizeKey, 28> kSizeKeys{{{"layers", &TransformerShape::layers},
                                                    {"hidden", &TransformerShape::hidden},
                                                    {"heads", &TransformerShape::heads},
                                                    {"kv_heads", &TransformerShape::kv_heads},
                                                    {"head_size", &TransformerShape::head_size},
                                                    {"feed_forward", &TransformerShape::feed_forward},
                                                    {"vocabulary", &TransformerShape::vocabulary},
                                                    {"vocabulary_unit", &TransformerShape::vocabulary_unit},
                                                    {"positions", &TransformerShape::positions},
                                                    {"experts", &TransformerShape::experts},
                                                    {"experts_per_token", &TransformerShape::experts_per_token},
                                                    {"expert_groups", &TransformerShape::expert_groups},
                                                    {"groups_per_token", &TransformerShape::groups_per_token},
                                                    {"expert_feed_forward", &TransformerShape::expert_feed_forward},
                                                    {"shared_experts", &TransformerShape::shared_experts},
                                                    {"shared_feed_forward", &TransformerShape::shared_feed_forward},
                                                    {"dense_layers", &TransformerShape::dense_layers},
                                                    {"moe_every", &TransformerShape::moe_every, 1},
                                                    {"query_rank", &TransformerShape::query_rank},
                                                    {"kv_rank", &TransformerShape::kv_rank},
                                                    {"rope_size", &TransformerShape::rope_size},
                                                    {"value_size", &TransformerShape::value_size},
                                                    {"predicted_tokens", &TransformerShape::predicted_tokens},
                                                    {"window", &TransformerShape::window},
                                                    {"full_every", &TransformerShape::full_every},
                                                    {"full_first", &TransformerShape::full_first},
                                                    {"block_norms", &TransformerShape::block_norms},
                                                    {"norm_vectors", &TransformerShape::norm_vectors}}};

struct SwitchKey {
  const char* name;
  bool TransformerShape::*flag;
};
inline constexpr std::array<SwitchKey, 12> kSwitches{{{"gated", &TransformerShape::gated},
                                                      {"biases", &TransformerShape::biases},
                                                      {"qkv_biases", &TransformerShape::qkv_biases},
                                                      {"tied_embedding", &TransformerShape::tied_embedding},
                                                      {"output_bias", &TransformerShape::output_bias},
                                                      {"mlp_biases", &TransformerShape::mlp_biases},
                                                      {"router_bias", &TransformerShape::router_bias},
                                                      {"head_bias", &TransformerShape::head_bias},
                                                      {"shared_gate", &TransformerShape::shared_gate},
                                                      {"embedding_norm", &TransformerShape::embedding_norm},
                                                      {"attention_sinks", &TransformerShape::attention_sinks},
                                                      {"chunked_window", &TransformerShape::chunked_window}}};

// Its row; null: the key is none.
template <typename Keys>
[[nodiscard]] constexpr auto find_member(const Keys& keys, std::string_view name) {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const auto& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

}  // namespace debubble
