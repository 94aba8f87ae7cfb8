// KernelTables: what kernels of one GPU were measured to take, in the form in which traces/kernels holds it.
//
// Products of matrices lie on a grid of log time over log m, log n, log k; attention and passes over memory are shares
// of the peak. Times are those of kernels inside a CUDA graph, launch included: the host is counted elsewhere.
// tools/kernel-tables writes the files and says how; traces/kernels/README.md where they come from.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace debubble {

// Which table a product takes. An 8-bit one is bare, or has the quantisation of its activations in it.
enum class ProductKind : std::uint8_t { kHalf, kFp8, kFp8Block };
inline constexpr std::array<const char*, 3> kProductKinds{"bf16", "fp8", "fp8-block"};

// Relative errors on measured rows that a table or a fit does not hold.
struct TableError {
  std::int64_t rows = 0;
  double median = 0;
  double tenth = 0;  // one row in ten is further off
};

// m rows, n columns, k inner: an m x n result.
struct ProductShape {
  double m = 1, n = 1, k = 1;
};

// t0 + max(2 m n (k + k0) / (peak cap) (1 + a0 S 128 256 / (m n)), bytes / (0.85 bandwidth)): what time does where the
// grid ends. S is the number of multiprocessors.
struct ProductFit {
  double cap = 1;
  double k0 = 0;
  double a0 = 0;
  double t0 = 0;     // microseconds
  TableError error;  // rows are not counted
};

// What a fit needs to know of the GPU that was measured.
struct MeasuredPeak {
  double flops = 0;      // per second in the format
  double bandwidth = 0;  // bytes per second
  double multiprocessors = 0;
  double operand_bytes = 2;  // of one number of a factor; a result's has 2
};

// What the fit makes of one product.
[[nodiscard]] double fit_seconds(const ProductFit& fit, const ProductShape& at, const MeasuredPeak& peak);

struct ProductTable {
  std::vector<double> rows, columns, inner;  // natural logs, ascending
  std::vector<double> log_us;                // [column][inner][row]
  ProductFit fit;
  TableError error;      // of the grid
  double sustained = 1;  // share of the peak that a long run's power allows
  double eager = 1;      // time of eager kernels in a framework over the grid's, by another source
  // Times with the quantisation in them stand, by `eager`, for a framework's bare products; it quantises in passes.
  bool quantised_apart = false;

  [[nodiscard]] bool empty() const { return log_us.empty(); }
  // Seconds of one product; outside the grid, its edge times the fit's ratio. Grows with each of m, n, k.
  [[nodiscard]] double seconds(const ProductShape& shape, const MeasuredPeak& peak) const;
};

struct AttentionKind {
  bool backward = false;
  bool causal = true;
  std::int64_t key = 128;  // size of a head's key, and of its value
  std::int64_t value = 128;

  friend auto operator<=>(const AttentionKind&, const AttentionKind&) = default;
};

struct AttentionTable {
  std::vector<double> lengths, heads;                   // natural logs, ascending; heads times samples
  std::map<AttentionKind, std::vector<double>> shares;  // of the peak by length, with heads enough
  std::vector<double> fill;                             // [length][heads]: what fewer heads reach of that

  [[nodiscard]] bool empty() const { return shares.empty(); }
  // Share of the 16-bit peak, for FLOPs of the sizes as they are. FlashAttention works on heads of whole multiples of
  // 32 and pads others (csrc/flash_attn/flash_api.cpp, head_size_rounded), so that an odd size costs the next one's
  // time.
  [[nodiscard]] double share(const AttentionKind& kind, double length, double heads) const;
};

// How much nothing hides of what a weight gradient reads and writes more to add to what earlier microbatches left: over
// its inner size, which is the microbatch's tokens.
struct AccumulationTable {
  std::vector<double> inner;  // natural logs, ascending
  std::vector<double> shown;  // of the time that the additional bytes take at the bandwidth of passes

  // A half where nothing was measured.
  [[nodiscard]] double share(double inner_size) const;
};

struct KernelTables {
  std::string hardware;  // "h100"
  std::string device;    // that was measured
  std::string product_source, attention_source, memory_source;
  std::array<ProductTable, 3> products;  // by ProductKind
  AttentionTable attention;
  AccumulationTable accumulation;
  double memory_forward = 0;  // share of the memory bandwidth of passes over it; 0: not known
  double memory_backward = 0;
  // Time of experts' products over one product of all their rows, by the natural log of the tokens of one expert.
  std::vector<double> tokens;
  std::array<std::vector<double>, 3> grouped;  // by ProductKind; empty: not measured
  std::array<TableError, 3> grouped_error;     // of that with the product table's time, on the rows it was made from

  [[nodiscard]] const ProductTable& product(ProductKind kind) const { return products[static_cast<std::size_t>(kind)]; }
  // 1 where it was not measured.
  [[nodiscard]] double grouped_factor(ProductKind kind, double tokens_per_expert) const;
};

}  // namespace debubble
