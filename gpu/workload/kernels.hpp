// The kernels of the built-in workload: CUDA C++ source text, compiled at run time by NVRTC, and by the tests as host
// C++. The text is in gpu/workload/kernels/*.inc and needs no header and no include path.
//
//     compile: kernel_source(type), options --std=c++17 and --gpu-architecture=sm_XX, sm_80 or newer
//     look up: kernel_names(); every one is extern "C"
//     launch:  one-dimensional; threads a multiple of 32, at most kKernelThreads; no dynamic shared memory
//
// Matrices are row-major; `Real` is the data type; sums, statistics and weight gradients are fp32. A width (elements of
// a row) is a multiple of 8, and buffers are aligned to 16 bytes: rows are read and written 16 bytes at a time. Sizes
// are `long long`. All loops have a stride, so any number of blocks is right; the number given is the good one. Weight
// gradients are added to, never overwritten. Tokens are ordered sequence first: row = position * samples + sample.
//
// kernel                                        arguments                                                       blocks
//  fill_normal                      Real* out, llong count, llong seed, float mean, float deviation     count/2048, <=
//  65536 embedding_forward                const int* tokens, const Real* table, const Real* positions (or 0), Real*
//  out,
//                                   llong rows, llong samples, llong width, llong vocabulary                       rows
//  embedding_weight_grad            const int* tokens, const Real* dout, float* dtable,
//                                   llong rows, llong width, llong vocabulary                                      rows
//  position_weight_grad             const Real* dout, float* dpositions, llong sequence, llong samples,
//                                   llong width                                                                sequence
//  {layer,rms}_norm_forward         const Real* x, const Real* weight, Real* out, float* mean, float* rstd,
//                                   llong rows, llong width, float epsilon                                         rows
//  {layer,rms}_norm_backward        const Real* dout, const Real* x, const Real* weight, const float* mean,
//                                   const float* rstd, const Real* residual_grad (or 0), Real* dx,
//                                   llong rows, llong width                                                        rows
//  {layer,rms}_norm_weight_grad     const Real* dout, const Real* x, const float* mean, const float* rstd,
//                                   float* partials, llong rows, llong width, llong chunk column_blocks()
//  bias_grad                        const Real* dout, float* partials, llong rows, llong width, llong chunk
//                                                                                                        column_blocks()
//  add_partials                     const float* partials, float* out, llong chunks, llong width           width/256,
//  up bias_add                         Real* x, const Real* bias, llong rows, llong width rows residual_add const Real*
//  x, const Real* bias (or 0), const Real* residual, Real* out,
//                                   llong rows, llong width                                                        rows
//  {gelu,silu,geglu,swiglu}_forward   const Real* in, const Real* bias (or 0), Real* out, llong rows, llong width rows
//  {gelu,silu,geglu,swiglu}_backward  const Real* in, const Real* bias (or 0), const Real* dout, Real* din,
//                                   llong rows, llong width                                                        rows
//  rotary                           Real* x, const float* cosines, const float* sines, llong rows, llong samples,
//                                   llong groups, llong slots, llong rotated, llong head_size, float direction     rows
//  causal_softmax_forward           const Real* scores, Real* probabilities, llong rows, llong sequence,
//                                   llong leading, float scale                                                     rows
//  causal_softmax_backward          const Real* probabilities, const Real* dprobabilities, Real* dscores,
//                                   llong rows, llong sequence, llong leading, float scale                         rows
//  cross_entropy_forward            const Real* logits, const int* targets, float* loss, float* log_sum,
//                                   llong rows, llong width                                                        rows
//  cross_entropy_backward           const Real* logits, const int* targets, const float* log_sum, Real* dlogits,
//                                   llong rows, llong width, float scale                                           rows
//
// A LayerNorm's weight is `width` weights, then `width` biases, and its partials are as wide as that. In the gated
// activations (geglu, swiglu) `in`, `bias` and `din` are 2 * width wide: the gates first, then what they multiply.
// GELU is the tanh form. In causal_softmax and cross_entropy the output may be the input's buffer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "gpu/workload/device.hpp"

namespace debubble {

inline constexpr std::int32_t kKernelThreads = 256;

// The whole source for one data type.
[[nodiscard]] std::string kernel_source(DataType type);

// All kernels in it, sorted.
[[nodiscard]] std::span<const std::string_view> kernel_names();

// Threads that fit a row of this many elements: one for every 16 bytes, a multiple of 32.
[[nodiscard]] std::int32_t row_threads(std::int64_t width, DataType type);

// How the kernels that sum columns (bias_grad, norm weight gradients; always kKernelThreads threads) split their rows:
// `chunks` of `chunk` rows, each giving one row of partial sums, which add_partials then adds up in order.
struct ColumnSplit {
  std::int64_t chunk = 0;
  std::int64_t chunks = 0;
  std::int64_t blocks = 0;
};
[[nodiscard]] ColumnSplit column_blocks(std::int64_t rows, std::int64_t width, DataType type);

}  // namespace debubble
