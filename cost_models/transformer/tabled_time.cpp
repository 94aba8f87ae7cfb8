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

double bytes_seconds(const LayerOp& op, const KernelModel& model, double share) {
  return static_cast<double>(op.bytes) / (static_cast<double>(model.hardware.memory_bandwidth) * share);
}

MeasuredPeak measured_peak(const LayerOp& op, const Hardware& hardware) {
  MeasuredPeak peak;
  peak.flops = format_flops(hardware, op.format);
  peak.bandwidth = static_cast<double>(hardware.memory_bandwidth);
  peak.multiprocessors = hardware.multiprocessors;
  peak.operand_bytes = op.format == NumberFormat::kFp8 ? 1 : 2;
  return peak;
}

// How much nothing hides of what a product reads and writes more to add to what earlier microbatches left: the medians
// in SimuMax's measured products with 32-bit gradients (traces/efficiency) are 0.40 on an A100 and 0.58 on a B200, for
// 58 and 134 shapes in which it is not most of the time. Nobody measured it between the two.
double shown_of_accumulation(const std::string& measured) {
  if (measured == "a100") return 0.40;
  const bool blackwell = measured.ends_with("b200") || measured.ends_with("b300");
  return blackwell ? 0.58 : 0.5;
}

// The tables' products write 16 bits once.
double accumulation_seconds(const LayerOp& op, const KernelModel& model, const MeasuredPeak& peak) {
  if (op.phase != LayerOp::Phase::kWeightGrad) return 0;
  const double factors = peak.operand_bytes * static_cast<double>(op.m + op.n) * static_cast<double>(op.k);
  const double once =
      static_cast<double>(op.batch) * (factors + 2 * static_cast<double>(op.m) * static_cast<double>(op.n));
  const double more = std::max(0.0, static_cast<double>(op.bytes) - once);
  return shown_of_accumulation(model.tables->hardware) * more /
         (static_cast<double>(model.hardware.memory_bandwidth) * model.tables->memory_forward);
}

// A batch is one product of all its rows: they fill the multiprocessors together. Each of its own right factors is
// read, which the bytes count.
std::optional<double> product_seconds(const LayerOp& op, const KernelModel& model) {
  ProductKind kind = ProductKind::kHalf;
  const ProductTable* table = table_of(op, *model.tables, kind);
  if (table == nullptr) return std::nullopt;
  if (op.m < 1 || op.n < 1 || op.k < 1) return 0;
  const MeasuredPeak peak = measured_peak(op, model.hardware);
  const ProductShape shape{static_cast<double>(op.batch * op.m), static_cast<double>(op.n), static_cast<double>(op.k)};
  const ModelEffects& effects = model.effects;
  double seconds = effects.product_sizes ? table->seconds(shape, peak) : op.flops / (peak.flops * table->fit.cap);
  if (effects.framework) seconds *= table->eager;
  if (effects.accumulation) seconds += accumulation_seconds(op, model, peak);
  seconds = std::max(seconds, bytes_seconds(op, model, model.tables->memory_forward));
  if (op.experts && effects.grouped_products) {
    // Tokens of one expert are the inner size of its weight gradient.
    const std::int64_t tokens = op.phase == LayerOp::Phase::kWeightGrad ? op.k : op.m;
    seconds *= model.tables->grouped_factor(kind, static_cast<double>(tokens));
  }
  return effects.sustained ? std::max(seconds, op.flops / (peak.flops * table->sustained)) : seconds;
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
