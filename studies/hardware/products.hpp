// Measured products of matrices: rows of a CSV file, or of this machine's own calibration; and what the model makes of
// them, a table of kernels (`debubble.kernels/1`) or shares of the peak.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cost_models/transformer/hardware.hpp"
#include "cost_models/transformer/kernel_tables.hpp"

namespace debubble {

// m rows, n columns, k inner: an m x n result.
struct MeasuredProduct {
  std::int64_t m = 1, n = 1, k = 1;
  std::string dtype;  // "fp32", "bf16", "fp16", "fp8", "fp8-block"
  double us = 0;
  std::int64_t line = 0;  // of its file; 0: none
};

// FLOPs per second.
[[nodiscard]] inline double product_rate(const MeasuredProduct& one) {
  return 2 * static_cast<double>(one.m) * static_cast<double>(one.n) * static_cast<double>(one.k) / (one.us * 1e-6);
}

// Comma-separated: a header m,n,k,dtype and one of time_ns, time_us, time_ms, time_s, in any order, then one product a
// line; `#` begins a comment. Strict: throws InputError with everything that is wrong, by line. With `hardware`: what
// it has no units for, or what would be faster than its peak, is wrong, too. A product that stands there several times
// has the median of its times.
[[nodiscard]] std::vector<MeasuredProduct> read_products(std::string_view text, const std::string& name,
                                                         const Hardware& hardware);

// A product takes no longer than any larger one of its dtype, whose kernel does it padded with zeros: where one was
// measured so, the larger one's time takes its place. Returns how many took over 5 % longer.
std::int64_t hold_to_larger(std::vector<MeasuredProduct>& products);

// What formulas with fitted shares of the peak make of products: relative errors on these.
struct SharesFit {
  Efficiency shares;
  TableError error;
  std::string dtype;  // that was fitted: the one with most products
};
// `hardware` has its peaks; its other shares stay. Needs a product.
[[nodiscard]] SharesFit fit_shares(const std::vector<MeasuredProduct>& products, const Hardware& hardware);

// The grid that a table of kernels has, of products in 16 and 8 bits: measured ones as they are, nodes between and
// beyond by ProductFit and by how far the products around are from it; more work never takes less time. Throws
// InputError (P006) where there are none in bf16 or fp16, or too few: `name` is the place.
struct TableSources {
  std::string device;    // that was measured
  std::string products;  // where
  // Whose attention, sums in 32 bits and passes over memory stay; null: passes as in the hardware's shares alone.
  std::shared_ptr<const KernelTables> base;
};
[[nodiscard]] KernelTables tables_of(const std::vector<MeasuredProduct>& products, const Hardware& hardware,
                                     const TableSources& sources, const std::string& name);

// "9.1 % off in the median, one in ten more than 20.3 %": how well.
[[nodiscard]] std::string error_text(const TableError& error);

}  // namespace debubble
