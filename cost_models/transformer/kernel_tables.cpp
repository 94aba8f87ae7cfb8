#include "cost_models/transformer/kernel_tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace debubble {
namespace {

// A place between two nodes of an ascending axis: the lower one, and how far it is to the next. Held inside the axis.
struct AxisPlace {
  std::size_t low = 0;
  double part = 0;
};

AxisPlace place_on(const std::vector<double>& axis, double value) {
  if (axis.size() < 2 || value <= axis.front()) return {};
  const auto above = std::upper_bound(axis.begin(), axis.end(), value);
  if (above == axis.end()) return {axis.size() - 2, 1};
  const auto low = static_cast<std::size_t>(above - axis.begin()) - 1;
  return {low, (value - axis[low]) / (axis[low + 1] - axis[low])};
}

// `values` by axis.
double between_nodes(const std::vector<double>& axis, const double* values, double at) {
  if (axis.size() < 2) return values[0];
  const AxisPlace place = place_on(axis, at);
  return values[place.low] + place.part * (values[place.low + 1] - values[place.low]);
}

double held_inside(const std::vector<double>& axis, double value) {
  return std::clamp(value, axis.front(), axis.back());
}

std::int64_t padded_head(std::int64_t size) {
  constexpr std::int64_t kStep = 32;
  constexpr std::int64_t kLargestStepped = 192;
  return size <= kLargestStepped ? (size + kStep - 1) / kStep * kStep : std::max<std::int64_t>(256, size);
}

// Between the measured sizes of the same pass and mask, by the log of the size.
double share_of_size(const AttentionTable& table, AttentionKind kind, double length) {
  const std::vector<double>* below = nullptr;
  const std::vector<double>* above = nullptr;
  double low = 0;
  double high = 0;
  const auto size = static_cast<double>(kind.key);
  for (const auto& [known, shares] : table.shares) {
    if (known.backward != kind.backward || known.causal != kind.causal || known.key != known.value) continue;
    const auto its = static_cast<double>(known.key);
    if (its <= size) {
      below = &shares;
      low = its;
    }
    if (its >= size && above == nullptr) {
      above = &shares;
      high = its;
    }
  }
  if (below == nullptr) below = above;
  if (above == nullptr) above = below;
  if (below == nullptr) return 0;
  const double first = between_nodes(table.lengths, below->data(), length);
  if (below == above || low == high) return first;
  const double part = (std::log(size) - std::log(low)) / (std::log(high) - std::log(low));
  return first + part * (between_nodes(table.lengths, above->data(), length) - first);
}

}  // namespace

double fit_seconds(const ProductFit& fit, const ProductShape& at, const MeasuredPeak& peak) {
  const double filled = 1 + fit.a0 * peak.multiprocessors * 128 * 256 / (at.m * at.n);
  const double compute = 2 * at.m * at.n * (at.k + fit.k0) / (peak.flops * fit.cap) * filled;
  const double bytes = peak.operand_bytes * (at.m * at.k + at.n * at.k) + 2 * at.m * at.n;
  return fit.t0 * 1e-6 + std::max(compute, bytes / (0.85 * peak.bandwidth));
}

double ProductTable::seconds(const ProductShape& shape, const MeasuredPeak& peak) const {
  const double log_m = held_inside(rows, std::log(shape.m));
  const double log_n = held_inside(columns, std::log(shape.n));
  const double log_k = held_inside(inner, std::log(shape.k));
  const AxisPlace m = place_on(rows, log_m);
  const AxisPlace n = place_on(columns, log_n);
  const AxisPlace k = place_on(inner, log_k);
  double log_time = 0;
  for (std::size_t corner = 0; corner < 4; ++corner) {
    const std::size_t up_n = corner & 1U;
    const std::size_t up_k = corner >> 1U;
    const double weight = (up_n != 0 ? n.part : 1 - n.part) * (up_k != 0 ? k.part : 1 - k.part);
    const double* line = log_us.data() + ((n.low + up_n) * inner.size() + k.low + up_k) * rows.size();
    log_time += weight * (line[m.low] + m.part * (line[m.low + 1] - line[m.low]));
  }
  const double on_grid = std::exp(log_time) * 1e-6;
  const ProductShape edge{std::exp(log_m), std::exp(log_n), std::exp(log_k)};
  // Narrower or shallower than the grid: the least kernel, which its floor makes up. Larger, or of fewer rows: the fit.
  const bool wider = std::log(shape.n) > log_n;  // by the logs: exp(log n) need not be n
  const bool deeper = std::log(shape.k) > log_k;
  const ProductShape wanted{shape.m, wider ? shape.n : edge.n, deeper ? shape.k : edge.k};
  const bool inside = log_m == std::log(shape.m) && !wider && !deeper;
  const double seconds = inside ? on_grid : on_grid * fit_seconds(fit, wanted, peak) / fit_seconds(fit, edge, peak);
  return std::max(seconds, 2 * shape.m * shape.n * shape.k / peak.flops);  // where the largest nodes are empty upstream
}

double AttentionTable::share(const AttentionKind& kind, double length, double heads_together) const {
  const double at = std::log(std::max(1.0, length));
  double best = 0;
  if (kind.key != kind.value) {
    const auto latent = std::find_if(shares.begin(), shares.end(), [&kind](const auto& one) {
      return one.first.key != one.first.value && one.first.backward == kind.backward && one.first.causal == kind.causal;
    });
    if (latent != shares.end()) best = between_nodes(lengths, latent->second.data(), at);
  }
  if (best == 0) {
    AttentionKind padded = kind;
    padded.key = padded_head(kind.key);
    const double used = static_cast<double>(kind.key) / static_cast<double>(padded.key);
    best = share_of_size(*this, padded, at) * used;
  }
  if (fill.empty()) return best;
  const AxisPlace place = place_on(lengths, at);
  const double together = std::log(std::max(1.0, heads_together));
  const auto filled = [&](std::size_t row) { return between_nodes(heads, fill.data() + row * heads.size(), together); };
  const double first = filled(place.low);
  return best * (first + place.part * (filled(place.low + 1) - first));
}

double AccumulationTable::share(double inner_size) const {
  if (inner.empty()) return 0.5;
  return between_nodes(inner, shown.data(), std::log(std::max(1.0, inner_size)));
}

double KernelTables::grouped_factor(ProductKind kind, double tokens_per_expert) const {
  const std::vector<double>& factors = grouped[static_cast<std::size_t>(kind)];
  if (factors.empty()) return 1;
  return between_nodes(tokens, factors.data(), std::log(std::max(1.0, tokens_per_expert)));
}

}  // namespace debubble
