#include "cost_models/transformer/kernel_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "cost_models/transformer/measured_shapes.hpp"
#include "cost_models/transformer/tabled_time.hpp"

namespace debubble {
namespace {

std::int64_t parts(std::int64_t size, std::int64_t part) { return (size + part - 1) / part; }

double tiled(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t tile_rows, std::int64_t tile_columns,
             int multiprocessors) {
  const std::int64_t tiles = batch * parts(m, tile_rows) * parts(n, tile_columns);
  if (tiles == 0 || multiprocessors == 0) return 1;
  const std::int64_t waves = parts(tiles, multiprocessors);
  const auto wanted = static_cast<double>(batch * m) * static_cast<double>(n);
  return wanted / (static_cast<double>(waves * multiprocessors) * static_cast<double>(tile_rows * tile_columns));
}

// How fast a multiprocessor works on a tile half, a quarter, an eighth as large, fitted with the shares of
// kernel_efficiency.cpp.
constexpr std::array<double, 4> kTileShares{1.0, 0.87, 0.70, 0.55};

}  // namespace

double format_flops(const Hardware& hardware, NumberFormat format) {
  switch (format) {
    case NumberFormat::kFp32:
      return hardware.fp32_flops;
    case NumberFormat::kFp16:
    case NumberFormat::kBf16:
      return hardware.half_flops;
    case NumberFormat::kFp8:
      return hardware.fp8_flops > 0 ? hardware.fp8_flops : hardware.half_flops;
  }
  return hardware.half_flops;
}

namespace {

double matrix_share(const LayerOp& op, const KernelModel& model) {
  const Efficiency& efficiency = model.efficiency;
  const double waves = best_wave_efficiency(op.batch, op.m, op.n, model.hardware);
  const auto inner = static_cast<double>(op.k);
  const double filled = inner > 0 ? inner / (inner + efficiency.half_k) : 1;
  const double alone = efficiency.matrix * waves * filled;
  return model.effects.sustained ? std::min(alone, efficiency.sustained) : alone;
}

// A fused kernel works on 128 queries of one head at a time. Few of them leave multiprocessors idle at the end:
// SimuMax's A100 attention reaches half of its best where 1.3 such blocks come on a multiprocessor.
double attention_share(const LayerOp& op, const KernelModel& model) {
  constexpr std::int64_t kQueries = 128;
  constexpr double kHalfFilled = 1.3;
  if (op.m == 0) return model.efficiency.attention;
  const auto blocks = static_cast<double>(op.batch * parts(op.m, kQueries));
  return model.efficiency.attention * blocks / (blocks + kHalfFilled * model.hardware.multiprocessors);
}

double seconds_for(double work, double rate) { return work > 0 && rate > 0 ? work / rate : 0; }

double bytes_at_share(const LayerOp& op, const KernelModel& model, double share) {
  return seconds_for(static_cast<double>(op.bytes), static_cast<double>(model.hardware.memory_bandwidth) * share);
}

// A pass over memory: of the machine that was measured, else of the tables', else of the hardware.
KernelSeconds elementwise_seconds(const LayerOp& op, const KernelModel& model, double latency) {
  if (takes_no_time(op, model)) return {0, true};
  const bool measured = model.effects.measured_passes;
  if (measured && model.passes.bandwidth > 0) {
    const double launches = op.bytes > 0 ? latency * op.kernels : 0;
    return {seconds_for(static_cast<double>(op.bytes), model.passes.bandwidth) + launches, true};
  }
  if (measured && model.tables != nullptr) return {pass_seconds(op, model), false};
  return {bytes_at_share(op, model, model.efficiency.memory), false};
}

// Its bytes at the bandwidth that passes over memory reach.
double memory_seconds(const LayerOp& op, const KernelModel& model) {
  if (op.kind == LayerOp::Kind::kElementwise) return elementwise_seconds(op, model, 0).seconds;
  return bytes_at_share(op, model, model.tables != nullptr ? model.tables->memory_forward : model.efficiency.memory);
}

// What a product or an attention takes by the formulas.
double formula_seconds(const LayerOp& op, const KernelModel& model) {
  const double share = op.kind == LayerOp::Kind::kMatmul ? matrix_share(op, model) : attention_share(op, model);
  const double memory = bytes_at_share(op, model, model.efficiency.memory);
  return std::max(memory, seconds_for(op.flops, format_flops(model.hardware, op.format) * share));
}

KernelSeconds compute_seconds(const LayerOp& op, const KernelModel& model) {
  if (op.kind == LayerOp::Kind::kCollective) throw std::logic_error("kernel_time of a collective: " + op.name);
  if (op.kind == LayerOp::Kind::kElementwise) return elementwise_seconds(op, model, model.passes.latency);
  const double peak = format_flops(model.hardware, op.format);
  const auto unmeasured = [&model](const LayerOp& other) {
    const std::optional<double> tabled = tabled_seconds(other, model);
    return tabled ? KernelSeconds{*tabled, true} : KernelSeconds{formula_seconds(other, model), false};
  };
  const bool by_measurement = op.kind == LayerOp::Kind::kMatmul ? model.effects.measured_products  //
                                                                : model.effects.measured_attention;
  if (by_measurement && !model.measured.empty()) {
    const auto modelled = [&](const LayerOp& other) {
      // The formula's share without its bytes, where there is no table: a shape nearby has them in.
      if (model.tables == nullptr) {
        return other.kind == LayerOp::Kind::kMatmul ? matrix_share(other, model) : attention_share(other, model);
      }
      const double seconds = unmeasured(other).seconds;
      return seconds > 0 ? other.flops / (seconds * peak) : 1;
    };
    // A measurement has all of it in: memory, launch, waves.
    const std::optional<double> measured = measured_share(op, model.measured, modelled);
    if (measured) return {seconds_for(op.flops, peak * *measured), false};
  }
  return unmeasured(op);
}

}  // namespace

double wave_efficiency(std::int64_t batch, std::int64_t m, std::int64_t n, const Hardware& hardware) {
  return tiled(batch, m, n, hardware.tile_rows, hardware.tile_columns, hardware.multiprocessors);
}

double best_wave_efficiency(std::int64_t batch, std::int64_t m, std::int64_t n, const Hardware& hardware) {
  std::int64_t high = hardware.tile_rows;
  std::int64_t wide = hardware.tile_columns;
  double best = 0;
  for (const double share : kTileShares) {
    best = std::max(best, share * tiled(batch, m, n, high, wide, hardware.multiprocessors));
    best = std::max(best, share * tiled(batch, m, n, wide, high, hardware.multiprocessors));
    (high >= wide ? high : wide) /= 2;
  }
  return best;
}

KernelBound kernel_bound(const LayerOp& op, const KernelModel& model) {
  const double products = seconds_for(op.flops, format_flops(model.hardware, op.format) * sustained_share(op, model));
  const double memory = memory_seconds(op, model);
  const double launches = static_cast<double>(op.kernels * model.efficiency.per_kernel) / 1e9;
  if (launches > std::max(products, memory)) return KernelBound::kLaunch;
  return products > memory ? KernelBound::kProducts : KernelBound::kMemory;
}

namespace {

// Of the rows of a product that is cut into parts.
LayerOp one_part(LayerOp op) {
  op.m = parts(op.m, op.parts);
  op.flops /= op.parts;
  op.bytes /= op.parts;
  op.kernels /= op.parts;
  op.parts = 1;
  return op;
}

}  // namespace

Nanoseconds kernel_time(const LayerOp& op, const KernelModel& model) {
  if (op.parts > 1) return op.parts * kernel_time(one_part(op), model);
  KernelSeconds time = compute_seconds(op, model);
  // Units for structured sparsity leave out every second product; what a kernel moves it moves anyway.
  if (op.sparse && model.hardware.structured_sparsity) {
    time.seconds = std::max(time.seconds / 2, std::min(time.seconds, memory_seconds(op, model)));
  }
  const bool gap = !time.launch_included && model.effects.kernel_gaps;
  const Nanoseconds launches = gap ? op.kernels * model.efficiency.per_kernel : 0;
  return std::llround(time.seconds / model.efficiency.compute_scale * 1e9) + launches;
}

}  // namespace debubble
