// Kernel times by KernelTables: which table an op takes, and what bounds it beside.
#pragma once

#include <optional>

#include "cost_models/transformer/kernel_time.hpp"

namespace debubble {

// `launch_included`: the time is that of a whole kernel, from its launch on.
struct KernelSeconds {
  double seconds = 0;
  bool launch_included = false;
};

// Which table has products in that format; those in 32 bits are in none.
[[nodiscard]] ProductKind product_kind(NumberFormat format, Fp8Recipe recipe);

// Of a product or a fused attention. Nothing where the model has no tables, or none for that op: products in 32 bits,
// 8-bit ones on a GPU that has none.
[[nodiscard]] std::optional<double> tabled_seconds(const LayerOp& op, const KernelModel& model);

// Of a pass over memory, with the tables' bandwidth, without its launch.
[[nodiscard]] double pass_seconds(const LayerOp& op, const KernelModel& model);

// A quantisation that is in its product's table.
[[nodiscard]] bool takes_no_time(const LayerOp& op, const KernelModel& model);

// The share of the peak that a long run of such products sustains; 1 where no table says.
[[nodiscard]] double sustained_share(const LayerOp& op, const KernelModel& model);

// Per second, in that format.
[[nodiscard]] double format_flops(const Hardware& hardware, NumberFormat format);

}  // namespace debubble
