// How long one kernel takes: by measured tables of the hardware, else roofline, tiles and waves.
//
// With KernelTables, a product takes its table's time, at least what its bytes take and what a long run's power allows;
// attention its share of the peak by length, head size, mask and pass; everything else its bytes at the bandwidth that
// passes over memory reached. Weight gradients and input gradients are looked up as the products that they are (rows,
// columns, inner size permuted): no table has them apart, so that a layout that is slower backward is not seen.
// Without tables a matmul reaches of the peak: matrix x waves x k / (k + half_k), at most `sustained`; it lasts at
// least as long as its bytes take. A MeasuredShape and MeasuredPasses (--efficiency) go before either.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cost_models/transformer/hardware.hpp"
#include "cost_models/transformer/kernel_tables.hpp"
#include "cost_models/transformer/layer_ops.hpp"

namespace debubble {

// One measured matmul or fused attention: the share of the peak it reached.
struct MeasuredShape {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  LayerOp::Phase phase = LayerOp::Phase::kForward;
  double efficiency = 0;
  LayerOp::Kind kind = LayerOp::Kind::kMatmul;  // or kAttention: batch times heads, queries, keys, size of a key
};

// Passes over memory of one machine: bytes per second, and what each kernel takes beside them.
struct MeasuredPasses {
  double bandwidth = 0;  // 0: not measured
  double latency = 0;    // seconds
};

struct KernelModel {
  Hardware hardware;
  Efficiency efficiency;
  std::vector<MeasuredShape> measured;         // of this shape or near it: measured_shapes.hpp
  MeasuredPasses passes;                       // of the machine that `measured` is of; goes before the tables'
  std::shared_ptr<const KernelTables> tables;  // null: none of this hardware
  ModelEffects effects;
};

// What kernels reach on that hardware, from the sources named in kernel_efficiency.cpp; hardware that none of them
// measured gets the shares of an A100.
[[nodiscard]] Efficiency usual_efficiency(const Hardware& hardware);
// Whether they are a preset's own, or those of a processor like its.
[[nodiscard]] bool has_known_shares(const Hardware& preset);
// "A100 matmuls of SimuMax's table, ...": where these shares come from.
[[nodiscard]] std::string efficiency_source(const Hardware& hardware);

// Share of the multiprocessors' time that a matmul with an m x n result uses when its tiles run in waves: 1 is all of
// it.
[[nodiscard]] double wave_efficiency(std::int64_t batch, std::int64_t m, std::int64_t n, const Hardware& hardware);
// The same for the tile that suits the matmul best: the hardware's, turned, halved or quartered. A smaller tile reads
// its operands more often, so that one multiprocessor does less with it.
[[nodiscard]] double best_wave_efficiency(std::int64_t batch, std::int64_t m, std::int64_t n, const Hardware& hardware);

// What a kernel could not be faster than: its FLOPs at the peak that a long run sustains, its bytes at the bandwidth
// that passes reach, its launches. The largest of them bounds it.
enum class KernelBound : std::uint8_t { kProducts, kMemory, kLaunch };
[[nodiscard]] KernelBound kernel_bound(const LayerOp& op, const KernelModel& model);

// Of everything but collectives. Throws std::logic_error for these.
[[nodiscard]] Nanoseconds kernel_time(const LayerOp& op, const KernelModel& model);

}  // namespace debubble
