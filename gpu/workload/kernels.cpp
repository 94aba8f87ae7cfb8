#include "gpu/workload/kernels.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "gpu/workload/kernel_text.hpp"
#include "sim/core/at.hpp"
#include "sim/core/word_list.hpp"

namespace debubble {
namespace {

std::int64_t divided_up(std::int64_t amount, std::int64_t part) { return (amount + part - 1) / part; }

// Elements of 16 bytes.
std::int64_t pack_of(DataType type) { return 16 / bytes_of(type); }

const char* macro_of(DataType type) { return at(std::array{"DEBUBBLE_BF16", "DEBUBBLE_FP16", "DEBUBBLE_FP32"}, type); }

}  // namespace

std::string kernel_source(DataType type) {
  return std::string("#define ") + macro_of(type) + " 1\n" + std::string(kernel_text());
}

std::span<const std::string_view> kernel_names() {
  static const std::vector<std::string_view> names = words_in(
      "add_partials bias_add bias_grad causal_softmax_backward causal_softmax_forward cross_entropy_backward "
      "cross_entropy_forward embedding_forward embedding_weight_grad fill_normal geglu_backward geglu_forward "
      "gelu_backward gelu_forward layer_norm_backward layer_norm_forward layer_norm_weight_grad position_weight_grad "
      "residual_add rms_norm_backward rms_norm_forward rms_norm_weight_grad rotary silu_backward silu_forward "
      "swiglu_backward swiglu_forward");
  return names;
}

std::int32_t row_threads(std::int64_t width, DataType type) {
  const std::int64_t warps = divided_up(divided_up(width, pack_of(type)), 32);
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(warps * 32, 32, kKernelThreads));
}

ColumnSplit column_blocks(std::int64_t rows, std::int64_t width, DataType type) {
  // Enough blocks to fill a large GPU a few times over, but no fewer than 32 rows in each, and few partial sums.
  constexpr std::int64_t kBlocks = 1024;
  constexpr std::int64_t kMostChunks = 128;
  const std::int64_t tiles = divided_up(width, 32 * pack_of(type));
  const std::int64_t wanted = std::clamp<std::int64_t>(kBlocks / tiles, 1, kMostChunks);
  ColumnSplit split;
  split.chunk = std::max<std::int64_t>(divided_up(rows, wanted), 32);
  split.chunks = divided_up(rows, split.chunk);
  split.blocks = split.chunks * tiles;
  return split;
}

}  // namespace debubble
