// Exchanges of tokens between the ranks that hold a mixture's experts, by libraries that know what a token is.
//
// A plain all-to-all sends a copy for each of a token's experts by itself. DeepEP (deepseek-ai/DeepEP) and HybridEP
// send one to each machine, over the cards of the same rail, and hand it on over NVLink, once to each rank that has any
// of its experts; results come back the same way, summed up in each machine. With k experts per token drawn evenly from
// E, the share of tokens that a rank or machine with E' experts gets is 1 - (E - E' choose k) / (E choose k).
//
// Rates and latencies: one of each per machine, rounded between those that fit dispatch and combine best on every
// second row of measured tables (ai-dynamo/aiconfigurator, commit 095f58a, Apache-2.0): DeepEP's normal kernels with
// the number of multiprocessors that was fastest, 8 to 256 experts, on 1, 2 and 4 machines of 8 H100; TensorRT-LLM's
// NVLink exchange in bf16 on NVL72, 2 to 64 ranks. Errors over all rows, median and nine of ten: one machine of H100 7
// and 42 %, H200 6 and 42, B200 11 and 37; H100 on two machines 17 and 35, on four 5 and 18; NVL72 11 and 39. What is
// far off are batches below 1,024 tokens and fewer than 64 experts, and DeepEP's combine over two machines, which is
// slower than here.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "cost_models/collectives/collective.hpp"
#include "sim/core/link_graph.hpp"
#include "sim/core/units.hpp"

namespace debubble {

enum class MoeDispatch : std::uint8_t {
  kAllToAll,  // every copy of a token by itself: plan_collective
  kDeepEp,    // at most 8 ranks of a machine know each other
  kHybrid,    // all ranks of an NVLink domain do
  kAllGather  // every rank gets every token: plan_collective
};

// Whether a library knows what a token is, and sends each once to a rank.
[[nodiscard]] constexpr bool sends_tokens(MoeDispatch dispatch) {
  return dispatch == MoeDispatch::kDeepEp || dispatch == MoeDispatch::kHybrid;
}

struct TokenExchange {
  MoeDispatch dispatch = MoeDispatch::kAllToAll;
  std::int64_t copies = 1;   // experts per token
  std::int64_t experts = 1;  // of the layer
  std::int64_t groups = 0;   // of experts, one next to the other; 0: a token's experts may be any,
  std::int64_t chosen = 0;   // else they are in so many groups

  auto operator<=>(const TokenExchange&) const = default;
};

// To how many of `ranks` a token goes on average: ranks with several of its experts get it once.
[[nodiscard]] double ranks_reached(const TokenExchange& exchange, std::int64_t ranks);

// Bytes that a rank sends, over NVLink and over its card.
struct ExchangeBytes {
  double near = 0;
  double far = 0;
};
// `bytes`: of all copies of a rank's tokens, as a plain all-to-all's buffer.
[[nodiscard]] ExchangeBytes exchange_bytes(const TokenExchange& exchange, std::int64_t ranks, std::int64_t machines,
                                           Bytes bytes);

// One way, alone; each of `groups` is one set of ranks of this graph. Throws InputError B030 for DeepEP among more than
// 8 ranks of one domain. For those of libraries alone.
[[nodiscard]] Nanoseconds exchange_time(const LinkGraph& graph, const std::vector<std::vector<std::int32_t>>& groups,
                                        const TokenExchange& exchange, Bytes bytes);

}  // namespace debubble
