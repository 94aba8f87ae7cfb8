// From measured products to the grid of a table of kernels.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "cost_models/transformer/kernel_time.hpp"
#include "sim/core/error.hpp"
#include "sim/core/median.hpp"
#include "studies/hardware/descent.hpp"
#include "studies/hardware/products.hpp"

namespace debubble {
namespace {

constexpr std::size_t kMostNodes = 16;    // of one axis
constexpr std::size_t kMostJudged = 400;  // products that are left out one by one

constexpr double kLeastNodeTime = 1e-6;  // microseconds that a table may have
constexpr double kLongestNodeTime = 1e12;
constexpr double kLargestError = 1e6;

struct GridRow {
  std::array<double, 3> log_size{};  // m, n, k
  double us = 0;
  double log_ratio = 0;  // of the time to the fit's
};

// Distinct sizes, ascending; of many, evenly spread ones with both ends.
std::vector<double> axis_of(const std::set<std::int64_t>& sizes) {
  const std::vector<std::int64_t> all(sizes.begin(), sizes.end());
  std::vector<double> axis;
  const std::size_t count = std::min(all.size(), kMostNodes);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t at = count == 1 ? 0 : k * (all.size() - 1) / (count - 1);
    axis.push_back(static_cast<double>(all[at]));
  }
  return axis;
}

double fit_us(const ProductFit& fit, const std::array<double, 3>& log_size, const MeasuredPeak& peak) {
  return fit_seconds(fit, {std::exp(log_size[0]), std::exp(log_size[1]), std::exp(log_size[2])}, peak) * 1e6;
}

TableError error_of(const std::vector<double>& off, std::size_t rows) {
  return {static_cast<std::int64_t>(rows), std::min(kLargestError, upper_median(off)),
          std::min(kLargestError, tenths_percentile(off, 9))};
}

// By the mean absolute log error, as tools/kernel-tables does it.
ProductFit fit_products(const std::vector<GridRow>& rows, const MeasuredPeak& peak) {
  const DescentLattice<4> lattice{
      {0.75, 100, 0.07, 3}, {0.1, 60, 0.04, 1}, {{{0.05, 1.0}, {0, 800}, {0, 0.6}, {0.1, 50}}}, 60};
  const auto as_fit = [](const std::array<double, 4>& p) { return ProductFit{p[0], p[1], p[2], p[3], {}}; };
  const auto error = [&](const std::array<double, 4>& p) {
    double sum = 0;
    for (const GridRow& row : rows) sum += std::abs(std::log(fit_us(as_fit(p), row.log_size, peak) / row.us));
    return sum / static_cast<double>(rows.size());
  };
  ProductFit fit = as_fit(least_on(lattice, error));
  std::vector<double> off;
  for (const GridRow& row : rows) off.push_back(std::abs(fit_us(fit, row.log_size, peak) / row.us - 1));
  fit.error = error_of(off, off.size());
  return fit;
}

// The fit, times how far products around are from it, the nearest counting most. `without`: this one is left out.
double estimate_us(const std::vector<GridRow>& rows, const ProductFit& fit, const MeasuredPeak& peak,
                   const std::array<double, 3>& log_size, const GridRow* without = nullptr) {
  double sum = 0;
  double weights = 0;
  for (const GridRow& row : rows) {
    if (&row == without) continue;
    double distance = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const double apart = row.log_size.at(d) - log_size.at(d);
      distance += apart * apart;
    }
    if (distance < 1e-12) return row.us;
    const double weight = 1 / (distance * distance);
    sum += weight * row.log_ratio;
    weights += weight;
  }
  return fit_us(fit, log_size, peak) * std::exp(weights > 0 ? sum / weights : 0);
}

TableError left_out_error(const std::vector<GridRow>& rows, const ProductFit& fit, const MeasuredPeak& peak) {
  std::vector<double> off;
  const std::size_t every = (rows.size() + kMostJudged - 1) / kMostJudged;
  for (std::size_t k = 0; k < rows.size(); k += every) {
    off.push_back(std::abs(estimate_us(rows, fit, peak, rows[k].log_size, &rows[k]) / rows[k].us - 1));
  }
  return error_of(off, rows.size());
}

// More work never takes less time.
void make_monotone(ProductTable& table) {
  const std::size_t rows = table.rows.size();
  const std::size_t inner = table.inner.size();
  const auto value = [&](std::size_t n, std::size_t k, std::size_t m) -> double& {
    return table.log_us[(n * inner + k) * rows + m];
  };
  for (std::size_t n = 0; n < table.columns.size(); ++n) {
    for (std::size_t k = 0; k < inner; ++k) {
      for (std::size_t m = 0; m < rows; ++m) {
        double& at = value(n, k, m);
        if (n > 0) at = std::max(at, value(n - 1, k, m));
        if (k > 0) at = std::max(at, value(n, k - 1, m));
        if (m > 0) at = std::max(at, value(n, k, m - 1));
      }
    }
  }
}

ProductKind kind_of_product(const std::string& dtype) {
  if (dtype == "fp8") return ProductKind::kFp8;
  return dtype == "fp8-block" ? ProductKind::kFp8Block : ProductKind::kHalf;
}

std::vector<double> logs_of(std::vector<double> sizes) {
  for (double& size : sizes) size = std::log(size);
  return sizes;
}

ProductTable table_of_kind(std::vector<GridRow> rows, const std::vector<double>& all_rows, const MeasuredPeak& peak) {
  std::array<std::set<std::int64_t>, 3> sizes;
  for (const GridRow& row : rows) {
    for (std::size_t d = 0; d < 3; ++d) sizes.at(d).insert(std::llround(std::exp(row.log_size.at(d))));
  }
  ProductTable table;
  table.fit = fit_products(rows, peak);
  for (GridRow& row : rows) row.log_ratio = std::log(row.us / fit_us(table.fit, row.log_size, peak));
  table.error = left_out_error(rows, table.fit, peak);
  table.rows = logs_of(all_rows);
  table.columns = logs_of(axis_of(sizes[1]));
  table.inner = logs_of(axis_of(sizes[2]));
  for (const double n : table.columns) {
    for (const double k : table.inner) {
      for (const double m : table.rows) {
        const double us = std::clamp(estimate_us(rows, table.fit, peak, {m, n, k}), kLeastNodeTime, kLongestNodeTime);
        table.log_us.push_back(std::log(us));
      }
    }
  }
  make_monotone(table);
  return table;
}

bool has_two_of_each(const std::vector<GridRow>& rows) {
  for (std::size_t d = 0; d < 3; ++d) {
    std::set<double> sizes;
    for (const GridRow& row : rows) sizes.insert(row.log_size.at(d));
    if (sizes.size() < 2) return false;
  }
  return true;
}

}  // namespace

KernelTables tables_of(const std::vector<MeasuredProduct>& products, const Hardware& hardware,
                       const TableSources& sources, const std::string& name) {
  const KernelTables* base = sources.base.get();
  std::array<std::vector<GridRow>, 3> by_kind;
  std::set<std::int64_t> rows;
  for (const MeasuredProduct& one : products) {
    if (one.dtype == "fp32") continue;
    rows.insert(one.m);
    GridRow row;
    row.log_size = {std::log(static_cast<double>(one.m)), std::log(static_cast<double>(one.n)),
                    std::log(static_cast<double>(one.k))};
    row.us = one.us;
    by_kind.at(static_cast<std::size_t>(kind_of_product(one.dtype))).push_back(row);
  }
  std::vector<Diagnostic> found;
  for (std::size_t kind = 0; kind < by_kind.size(); ++kind) {
    const auto& its = by_kind.at(kind);
    if (its.empty() ? kind == 0 : !has_two_of_each(its)) {
      found.push_back({"P006", name,
                       its.empty() ? "a table of kernels needs products in bf16 or fp16, and there are none"
                                   : std::string("too few products in ") + kProductKinds.at(kind) + " for a table",
                       its.empty() ? "add some; of fp32 alone a file of hardware can be made: -o my.json"
                                   : "it takes at least two sizes of each of m, n and k"});
    }
  }
  if (!found.empty()) throw InputError(std::move(found));
  KernelTables made;
  made.hardware = hardware.name;
  made.device = sources.device;
  made.product_source = sources.products;
  const Efficiency usual = usual_efficiency(hardware);
  made.memory_forward = base != nullptr ? base->memory_forward : usual.memory;
  made.memory_backward = base != nullptr ? base->memory_backward : usual.memory;
  made.memory_source = base != nullptr ? base->memory_source : efficiency_source(hardware);
  if (base != nullptr) {
    made.attention = base->attention;
    made.attention_source = base->attention_source;
    made.accumulation = base->accumulation;
  }
  const std::vector<double> axis = axis_of(rows);
  for (std::size_t kind = 0; kind < by_kind.size(); ++kind) {
    if (by_kind.at(kind).empty()) continue;
    MeasuredPeak peak;
    peak.flops = kind == 0 ? hardware.half_flops : hardware.fp8_flops;
    peak.bandwidth = static_cast<double>(hardware.memory_bandwidth);
    peak.multiprocessors = hardware.multiprocessors;
    peak.operand_bytes = kind == 0 ? 2 : 1;
    made.products.at(kind) = table_of_kind(by_kind.at(kind), axis, peak);
  }
  return made;
}

}  // namespace debubble
