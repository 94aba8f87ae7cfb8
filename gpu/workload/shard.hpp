// Shard: the sizes of one device's share of a transformer and of one microbatch.
#pragma once

#include <cstdint>

#include "gpu/workload/transformer_model.hpp"
#include "sim/core/transformer.hpp"

namespace debubble {

// Tokens are ordered sequence first (token = position * samples + sample), heads by the key/value head they share, and
// the query/key/value row by these groups, so that all heads of all samples are evenly spaced and every matmul of
// attention is a strided batch, without copies:
//
//     row of qkv, two queries to a key:   | q0 q1 k v | q2 q3 k v |     one group per key/value head
struct Shard {
  DataType type = DataType::kBf16;
  std::int64_t samples = 0;
  std::int64_t sequence = 0;
  std::int64_t hidden = 0;
  std::int64_t groups = 0;   // key/value heads here
  std::int64_t queries = 0;  // heads in a group
  std::int64_t head_size = 0;
  std::int64_t feed_forward = 0;
  std::int64_t vocabulary = 0;      // rows here, padded
  std::int64_t all_vocabulary = 0;  // on all devices: tokens and targets are drawn from these
  std::int64_t positions = 0;
  NormKind norm = NormKind::kLayerNorm;
  ActivationKind activation = ActivationKind::kGelu;
  bool gated = false;
  bool biases = true;
  bool qkv_biases = true;

  [[nodiscard]] std::int64_t tokens() const { return samples * sequence; }
  [[nodiscard]] std::int64_t qkv_width() const { return groups * (queries + 2) * head_size; }
  [[nodiscard]] std::int64_t context_width() const { return groups * queries * head_size; }
  [[nodiscard]] std::int64_t mlp_width() const { return feed_forward * (gated ? 2 : 1); }
  [[nodiscard]] std::int64_t norm_width() const { return hidden * (norm == NormKind::kLayerNorm ? 2 : 1); }
  [[nodiscard]] std::int64_t score_rows() const { return samples * groups * queries * sequence; }
  // From one row of scores to the next: rows begin at 16 bytes.
  [[nodiscard]] std::int64_t score_leading() const { return (sequence + 7) / 8 * 8; }
};

// The vocabulary is padded to a multiple of 128 on every device, as Megatron-LM does. Throws InputError with all that
// is wrong: sizes that are not positive (F001), heads that do not fit each other, a tensor_parallel that does not
// divide, rows that are no multiple of 16 bytes (F003), a sequence beyond the learned positions (F002),
// sizes beyond what can be counted (X005).
[[nodiscard]] Shard shard_of(const TransformerShape& shape, const WorkloadSize& size);

}  // namespace debubble
