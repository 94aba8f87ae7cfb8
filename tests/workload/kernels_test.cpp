// Each kernel alone against plain loops in double, with widths that fill one pack, several blocks of threads, and
// neither; with more rows than blocks.
#include "gpu/workload/kernels.hpp"

#include "tests/support/test.hpp"
#include "tests/workload/kernel_bench.hpp"

namespace debubble {
namespace {

using test::Doubles;
using test::for_each_type;
using test::KernelBench;

constexpr std::int64_t kWidths[] = {8, 264, 2120};  // one pack, odd, more than 256 threads take at once
constexpr DeviceAddress kNone = 0;

std::size_t at(std::int64_t row, std::int64_t column, std::int64_t width) {
  return static_cast<std::size_t>(row * width + column);
}

struct NormCase {
  bool centred;
  std::int64_t rows;
  std::int64_t width;
};

// The right statistics of a row: mean and reciprocal deviation.
std::pair<double, double> statistics(const Doubles& x, std::int64_t row, const NormCase& item) {
  double mean = 0;
  for (std::int64_t i = 0; item.centred && i < item.width; ++i) {
    mean += x[at(row, i, item.width)] / static_cast<double>(item.width);
  }
  double variance = 0;
  for (std::int64_t i = 0; i < item.width; ++i) {
    variance += std::pow(x[at(row, i, item.width)] - mean, 2) / static_cast<double>(item.width);
  }
  return {mean, 1 / std::sqrt(variance + 1e-5)};
}

void check_norm(DataType type, const NormCase& item) {
  KernelBench bench(type);
  const std::string name = item.centred ? "layer_norm" : "rms_norm";
  const auto [centred, rows, width] = item;
  Doubles x, w, g, r;
  const DeviceAddress in = bench.random(rows * width, &x, 0.5);
  const DeviceAddress weight = bench.random(width * 2, &w, 1, 0.3);
  const DeviceAddress dout = bench.random(rows * width, &g);
  const DeviceAddress residual = bench.random(rows * width, &r);
  const DeviceAddress out = bench.room(rows * width), dx = bench.room(rows * width);
  const DeviceAddress mean = bench.room(rows), rstd = bench.room(rows);
  bench.launch(name + "_forward", 2, row_threads(width, type), in, weight, out, mean, rstd, rows, width, 1e-5F);
  bench.launch(name + "_backward", 2, row_threads(width, type), dout, in, weight, mean, rstd, residual, dx, rows,
               width);
  const ColumnSplit split = column_blocks(rows, width, type);
  const std::int64_t sums = centred ? 2 * width : width;
  const DeviceAddress partials = bench.room(split.chunks * sums);
  const DeviceAddress dweight = bench.floats(Doubles(static_cast<std::size_t>(sums), 1.0));
  bench.launch(name + "_weight_grad", split.blocks, 256, dout, in, mean, rstd, partials, rows, width, split.chunk);
  bench.launch("add_partials", 1, 256, partials, dweight, split.chunks, sums);

  Doubles y, right_dx, right_dw(static_cast<std::size_t>(sums), 1.0), scales;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto [middle, scale] = statistics(x, row, item);
    double average = 0, slope = 0;
    for (std::int64_t i = 0; i < width; ++i) {
      const double normal = (x[at(row, i, width)] - middle) * scale;
      const double grad = g[at(row, i, width)] * w[at(0, i, width)];
      y.push_back(normal * w[at(0, i, width)] + (centred ? w[at(1, i, width)] : 0));
      average += centred ? grad / static_cast<double>(width) : 0;
      slope += grad * normal / static_cast<double>(width);
      right_dw[at(0, i, width)] += g[at(row, i, width)] * normal;
      if (centred) right_dw[at(1, i, width)] += g[at(row, i, width)];
    }
    for (std::int64_t i = 0; i < width; ++i) {
      const double normal = (x[at(row, i, width)] - middle) * scale;
      const double grad = g[at(row, i, width)] * w[at(0, i, width)];
      right_dx.push_back(r[at(row, i, width)] + scale * (grad - average - normal * slope));
    }
    scales.push_back(scale);
  }
  CHECK(bench.close(bench.read_reals(out, rows * width), y));
  CHECK(bench.close(bench.read_reals(dx, rows * width), right_dx));
  CHECK(bench.close(bench.read_floats(rstd, rows), scales, 0));
  CHECK(bench.close(bench.read_floats(dweight, sums), right_dw, 0));
}

TEST_CASE("norms: forward, input gradient with the residual's, and weight gradient added to what is there") {
  for_each_type([](DataType type) {
    for (const std::int64_t width : kWidths) {
      check_norm(type, {true, 5, width});
      check_norm(type, {false, 5, width});
    }
    check_norm(type, {true, 150, 24});  // several chunks of rows
    check_norm(type, {false, 150, 24});
  });
}

TEST_CASE("column sums come out the same every time, however the rows are split") {
  for_each_type([](DataType type) {
    for (const std::int64_t rows : {1, 31, 33, 300}) {
      KernelBench bench(type);
      constexpr std::int64_t kWidth = 520;
      Doubles g;
      const DeviceAddress dout = bench.random(rows * kWidth, &g);
      Doubles right(kWidth, 2.0);
      for (std::size_t i = 0; i < g.size(); ++i) right[i % kWidth] += g[i];
      const ColumnSplit split = column_blocks(rows, kWidth, type);
      CHECK(split.chunk * split.chunks >= rows);
      CHECK(split.chunk * (split.chunks - 1) < rows);
      const DeviceAddress partials = bench.room(split.chunks * kWidth);
      for (const std::int64_t blocks : {split.blocks, std::int64_t{1}}) {
        const DeviceAddress sum = bench.floats(Doubles(kWidth, 2.0));
        bench.launch("bias_grad", blocks, 256, dout, partials, rows, kWidth, split.chunk);
        bench.launch("add_partials", 3, 256, partials, sum, split.chunks, kWidth);
        CHECK(bench.close(bench.read_floats(sum, kWidth), right, 0));
      }
    }
  });
}

TEST_CASE("biases and residuals") {
  for_each_type([](DataType type) {
    for (const std::int64_t width : kWidths) {
      KernelBench bench(type);
      constexpr std::int64_t kRows = 3;
      Doubles x, b, r;
      const DeviceAddress in = bench.random(kRows * width, &x);
      const DeviceAddress bias = bench.random(width, &b);
      const DeviceAddress residual = bench.random(kRows * width, &r);
      const DeviceAddress out = bench.room(kRows * width), bare = bench.room(kRows * width);
      const std::int32_t threads = row_threads(width, type);
      bench.launch("residual_add", 2, threads, in, bias, residual, out, kRows, width);
      bench.launch("residual_add", 2, threads, in, kNone, residual, bare, kRows, width);
      bench.launch("bias_add", 2, threads, in, bias, kRows, width);
      Doubles biased = x, both = x, around = x;
      for (std::size_t i = 0; i < x.size(); ++i) {
        biased[i] += b[i % b.size()];
        both[i] += b[i % b.size()] + r[i];
        around[i] += r[i];
      }
      CHECK(bench.close(bench.read_reals(in, kRows * width), biased));
      CHECK(bench.close(bench.read_reals(out, kRows * width), both));
      CHECK(bench.close(bench.read_reals(bare, kRows * width), around));
    }
  });
}

double activation(bool gelu, double x) {
  if (!gelu) return x / (1 + std::exp(-x));
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

// By central differences, so that nothing of the kernels' formula is used.
double slope(bool gelu, double x) {
  constexpr double kStep = 1e-6;
  return (activation(gelu, x + kStep) - activation(gelu, x - kStep)) / (2 * kStep);
}

void check_activation(DataType type, const std::string& name, bool gelu, bool gated, std::int64_t width, bool biased) {
  KernelBench bench(type);
  constexpr std::int64_t kRows = 3;
  const std::int64_t wide = gated ? 2 * width : width;
  Doubles x, b, g;
  const DeviceAddress in = bench.random(kRows * wide, &x, 0, 2);
  const DeviceAddress bias = bench.random(wide, &b);
  const DeviceAddress dout = bench.random(kRows * width, &g);
  const DeviceAddress out = bench.room(kRows * width), din = bench.room(kRows * wide);
  const DeviceAddress used = biased ? bias : kNone;
  bench.launch(name + "_forward", 2, row_threads(width, type), in, used, out, kRows, width);
  bench.launch(name + "_backward", 2, row_threads(width, type), in, used, dout, din, kRows, width);
  Doubles right(g.size()), right_din(x.size());
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t i = 0; i < width; ++i) {
      const auto input = [&](std::int64_t column) {
        return x[at(row, column, wide)] + (biased ? b[at(0, column, wide)] : 0);
      };
      const double factor = gated ? input(width + i) : 1;
      const double grad = g[at(row, i, width)];
      right[at(row, i, width)] = activation(gelu, input(i)) * factor;
      right_din[at(row, i, wide)] = grad * factor * slope(gelu, input(i));
      if (gated) right_din[at(row, width + i, wide)] = grad * activation(gelu, input(i));
    }
  }
  CHECK(bench.close(bench.read_reals(out, kRows * width), right));
  CHECK(bench.close(bench.read_reals(din, kRows * wide), right_din));
}

TEST_CASE("activations, plain and gated, with and without a bias, and their gradients") {
  for_each_type([](DataType type) {
    for (const std::int64_t width : kWidths) {
      for (const bool biased : {false, true}) {
        check_activation(type, "gelu", true, false, width, biased);
        check_activation(type, "silu", false, false, width, biased);
        check_activation(type, "geglu", true, true, width, biased);
        check_activation(type, "swiglu", false, true, width, biased);
      }
    }
  });
}

TEST_CASE("the names are those in the source, each once") {
  std::set<std::string> found;
  for (const DataType type : {DataType::kBf16, DataType::kFp16, DataType::kFp32}) {
    const std::string source = kernel_source(type);
    std::size_t count = 0;
    for (std::size_t from = source.find("\nKERNEL("); from != std::string::npos;
         from = source.find("\nKERNEL(", from)) {
      from += 8;
      found.insert(source.substr(from, source.find(')', from) - from));
      ++count;
    }
    CHECK(count == kernel_names().size());
  }
  const std::set<std::string> names(kernel_names().begin(), kernel_names().end());
  CHECK(found == names);
  CHECK(std::is_sorted(kernel_names().begin(), kernel_names().end()));
}

TEST_CASE("threads fit the row") {
  CHECK(row_threads(8, DataType::kBf16) == 32);
  CHECK(row_threads(256, DataType::kBf16) == 32);
  CHECK(row_threads(264, DataType::kBf16) == 64);
  CHECK(row_threads(264, DataType::kFp32) == 96);
  CHECK(row_threads(2048, DataType::kBf16) == 256);
  CHECK(row_threads(128256, DataType::kBf16) == 256);
}

}  // namespace
}  // namespace debubble
