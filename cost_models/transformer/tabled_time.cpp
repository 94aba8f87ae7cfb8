#include "cost_models/transformer/tabled_time.hpp"

#include <algorithm>

namespace debubble {
namespace {

bool in_blocks(Fp8Recipe recipe) { return recipe == Fp8Recipe::kBlockwise || recipe == Fp8Recipe::kMxfp8; }

// The table of that op's format and recipe; null: there is none.
const ProductTable* table_of(const LayerOp& op, const KernelTables& tables, ProductKind& kind) {
  if (op.format == NumberFormat::kFp32) return nullptr;
  kind = product_kind(op.format, op.recipe);
  const ProductTable& table = tables.product(kind);
  return table.empty() ? nullptr : &table;
}

double seconds_of_bytes(double bytes, const KernelModel& model, double share) {
  return bytes / (static_cast<double>(model.hardware.memory_bandwidth) * share);
}

double bytes_seconds(const LayerOp& op, const KernelModel& model, double share) {
  return seconds_of_bytes(static_cast<double>(op.bytes), model, share);
}

MeasuredPeak measured_peak(const LayerOp& op, const Hardware& hardware) {
  MeasuredPeak peak;
  peak.flops = format_flops(hardware, op.format);
  peak.bandwidth = static_cast<double>(hardware.memory_bandwidth);
  peak.multiprocessors = hardware.multiprocessors;
  peak.operand_bytes = op.format == NumberFormat::kFp8 ? 1 : 2;
  return peak;
}

// The tables' products write 16 bits once: what a gradient that adds to 32 bits reads and writes more.
double accumulated_bytes(const LayerOp& op, const MeasuredPeak& peak) {
  if (op.phase != LayerOp::Phase::kWeightGrad) return 0;
  const double factors = peak.operand_bytes * static_cast<double>(op.m + op.n) * static_cast<double>(op.k);
  const double once =
      static_cast<double>(op.batch) * (factors + 2 * static_cast<double>(op.m) * static_cast<double>(op.n));
  return std::max(0.0, static_cast<double>(op.bytes) - once);
}

// A batch is one product of all its rows: they fill the multiprocessors together. Each of its own right factors is
// read, which the bytes count.
double lone_product_seconds(const LayerOp& op, const KernelModel& model, const ProductTable& table, double bytes) {
  const MeasuredPeak peak = measured_peak(op, model.hardware);
  const ProductShape shape{static_cast<double>(op.batch * op.m), static_cast<double>(op.n), static_cast<double>(op.k)};
  const ModelEffects& effects = model.effects;
  double seconds = effects.product_sizes ? table.seconds(shape, peak) : op.flops / (peak.flops * table.fit.cap);
  if (effects.framework) seconds *= table.eager;
  seconds = std::max(seconds, seconds_of_bytes(bytes, model, model.tables->memory_forward));
  if (op.experts && effects.grouped_products) {
    // Tokens of one expert are the inner size of its weight gradient.
    const std::int64_t tokens = op.phase == LayerOp::Phase::kWeightGrad ? op.k : op.m;
    seconds *= model.tables->grouped_factor(product_kind(op.format, op.recipe), static_cast<double>(tokens));
  }
  return effects.sustained ? std::max(seconds, op.flops / (peak.flops * table.sustained)) : seconds;
}

// What a sum adds comes on top of what a long run allows the product: on an H100 at its power limit, sums over 4096
// tokens take 8 % longer than products without, and none of it hides there (tests/kernels/measured_rows_test.cpp).
std::optional<double> product_seconds(const LayerOp& op, const KernelModel& model) {
  ProductKind kind = ProductKind::kHalf;
  const ProductTable* table = table_of(op, *model.tables, kind);
  if (table == nullptr) return std::nullopt;
  if (op.m < 1 || op.n < 1 || op.k < 1) return 0;
  const double memory = model.tables->memory_forward;
  const double more = accumulated_bytes(op, measured_peak(op, model.hardware));
  double seconds = lone_product_seconds(op, model, *table, static_cast<double>(op.bytes) - more);
  if (model.effects.accumulation) {
    seconds += model.tables->accumulation.share(static_cast<double>(op.k)) * seconds_of_bytes(more, model, memory);
  }
  return std::max(seconds, bytes_seconds(op, model, memory));
}

// Ring attention works on one pair of parts at a time, each as long as a rank's queries.
std::optional<double> attention_seconds(const LayerOp& op, const KernelModel& model) {
  const AttentionTable& table = model.tables->attention;
  if (table.empty() || op.format == NumberFormat::kFp32) return std::nullopt;
  AttentionKind kind;
  kind.backward = op.phase != LayerOp::Phase::kForward && !op.recompute;
  kind.causal = op.causal;
  kind.key = op.k;
  kind.value = op.value > 0 ? op.value : op.k;
  const double share = table.share(kind, static_cast<double>(op.m), static_cast<double>(op.batch));
  if (share <= 0) return std::nullopt;
  const double seconds = op.flops / (model.hardware.half_flops * share);
  return std::max(seconds, bytes_seconds(op, model, model.tables->memory_forward));
}

}  // namespace

ProductKind product_kind(NumberFormat format, Fp8Recipe recipe) {
  if (format != NumberFormat::kFp8) return ProductKind::kHalf;
  return in_blocks(recipe) ? ProductKind::kFp8Block : ProductKind::kFp8;
}

std::optional<double> tabled_seconds(const LayerOp& op, const KernelModel& model) {
  if (model.tables == nullptr) return std::nullopt;
  if (op.kind == LayerOp::Kind::kMatmul) {
    return model.effects.measured_products ? product_seconds(op, model) : std::nullopt;
  }
  return model.effects.measured_attention ? attention_seconds(op, model) : std::nullopt;
}

double sustained_share(const LayerOp& op, const KernelModel& model) {
  if (model.tables == nullptr) return model.efficiency.sustained;
  ProductKind kind = ProductKind::kHalf;
  const ProductTable* table = op.kind == LayerOp::Kind::kMatmul ? table_of(op, *model.tables, kind) : nullptr;
  return table == nullptr ? 1 : table->sustained;
}

double pass_seconds(const LayerOp& op, const KernelModel& model) {
  const bool backward = op.phase != LayerOp::Phase::kForward && !op.recompute;
  return bytes_seconds(op, model, backward ? model.tables->memory_backward : model.tables->memory_forward);
}

bool takes_no_time(const LayerOp& op, const KernelModel& model) {
  if (!op.quantises) return false;
  if (!model.effects.quantisation) return true;
  if (!in_blocks(op.recipe) || model.tables == nullptr || !model.effects.measured_products) return false;
  const ProductTable& table = model.tables->product(ProductKind::kFp8Block);
  return !table.empty() && !table.quantised_apart;
}

}  // namespace debubble
