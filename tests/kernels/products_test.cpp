// Measured products: their reader, the table that is made of them, and the shares that fit them.
#include "studies/hardware/products.hpp"
#include "cost_models/transformer/kernel_time.hpp"
#include "scenario/request/kernel_file.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

const Hardware& measured_gpu() { return *find_hardware("h100"); }

std::string faults_of(const std::string& text) {
  std::string all;
  for (const Diagnostic& one : diagnostics_of([&] { (void)read_products(text, "p.csv", measured_gpu()); }))
    all += one.code + " " + one.place + ": " + one.message + "\n";
  return all;
}

// What the model's own formula makes of a grid of products with these shares.
std::vector<MeasuredProduct> formula_products(double matrix, double half_k) {
  KernelModel model;
  model.hardware = measured_gpu();
  model.efficiency = usual_efficiency(measured_gpu());
  model.efficiency.matrix = matrix;
  model.efficiency.half_k = half_k;
  model.efficiency.sustained = 1;
  std::vector<MeasuredProduct> made;
  for (const std::int64_t m : {512, 2048, 8192}) {
    for (const std::int64_t n : {1024, 4096}) {
      for (const std::int64_t k : {128, 1024, 8192}) {
        LayerOp op;
        op.m = m;
        op.n = n;
        op.k = k;
        op.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
        op.bytes = 2 * (m * k + n * k + m * n);
        made.push_back({m, n, k, "bf16", static_cast<double>(kernel_time(op, model)) / 1e3, 0});
      }
    }
  }
  return made;
}

}  // namespace

TEST_CASE("products: columns in any order and unit, comments, and the median of several") {
  const auto read = read_products(
      "# by whom\n\ndtype, "
      "time_ms,k,n,m\nbf16,1.5,1024,2048,4096\nbf16,1.7,1024,2048,4096\r\nbf16,1.6,1024,2048,4096\n",
      "p.csv", measured_gpu());
  REQUIRE(read.size() == 1);
  CHECK(read[0].m == 4096);
  CHECK(read[0].n == 2048);
  CHECK(read[0].k == 1024);
  CHECK(read[0].us == doctest::Approx(1600));
}

TEST_CASE("products: one that took longer than a larger one has the larger one's time, and the table its own rows") {
  std::vector<MeasuredProduct> clean = formula_products(0.7, 100);
  std::vector<MeasuredProduct> dirty = clean;
  for (std::size_t slow = 0; slow + 1 < dirty.size(); slow += 5) dirty[slow].us *= 10;
  CHECK(hold_to_larger(clean) == 0);
  CHECK(hold_to_larger(dirty) == 4);
  for (std::size_t k = 0; k < dirty.size(); ++k) {
    double least = dirty[k].us;  // of all that are as large
    for (const MeasuredProduct& other : dirty) {
      const bool larger = other.m >= dirty[k].m && other.n >= dirty[k].n && other.k >= dirty[k].k;
      if (larger) least = std::min(least, other.us);
    }
    CHECK(dirty[k].us == least);
    if (k % 5 != 0) CHECK(dirty[k].us == clean[k].us);
    CHECK(dirty[k].us >= clean[k].us);
  }
  MeasuredProduct other_format = clean.back();
  other_format.dtype = "fp8";
  other_format.us = 1;
  clean.push_back(other_format);
  CHECK(hold_to_larger(clean) == 0);
}

TEST_CASE("products: what is wrong is told by line, all at once") {
  CHECK(contains(faults_of(""), "P006 p.csv: the file is empty"));
  CHECK(contains(faults_of("m,n,k,dtype,time_us\n"), "there are no products"));
  CHECK(contains(faults_of("m,n,k,dtype,time_us\n1,1,1,fp32,9" + std::string(400, '0') + "\n"), "P017 p.csv:2"));
  const std::string header = faults_of("m,n,kk,dtype,time\n1,2,3,bf16,4\n");
  CHECK(contains(header, "P005 p.csv:1: unknown column \"kk\""));
  CHECK(contains(header, "there is no column \"k\""));
  CHECK(contains(header, "there is no column of times"));
  CHECK(contains(faults_of("m,n,k,dtype,time_us,time_ms\n"), "several columns of times"));
  CHECK(contains(faults_of("m,m,n,k,dtype,time_us\n"), "stands here twice"));
  const std::string rows =
      faults_of("m,n,k,dtype,time_us\n1,2,3,bf16\n0,1,1,bf16,9\n1,1,1,int8,9\n1,1,1,bf16,-1\n1,1,1,fp8,1e99\n");
  for (const char* part : {"P012 p.csv:2", "P004 p.csv:3", "P012 p.csv:4", "P004 p.csv:5", "P004 p.csv:6"}) {
    CHECK(contains(rows, part));
  }
}

TEST_CASE("products: none is faster than the hardware's peak, and its units must be there") {
  // 2 x 4096^3 FLOPs take 138.9 us at the peak of 989.4 TFLOP/s; boost clocks may give a tenth more.
  CHECK(faults_of("m,n,k,dtype,time_us\n4096,4096,4096,bf16,127\n").empty());
  CHECK(contains(faults_of("m,n,k,dtype,time_us\n4096,4096,4096,bf16,126\n"), "is above the peak of h100, 989.4"));
  CHECK(contains(first_problem([&] {
                   (void)read_products("m,n,k,dtype,time_us\n4096,4096,4096,fp8,1000\n", "p.csv",
                                       *find_hardware("v100"));
                 }).message,
                 "v100 has no units for fp8 products"));
}

TEST_CASE("products: the shares that made them are found again") {
  for (const auto& [matrix, half_k] : {std::pair{0.7, 200.0}, std::pair{0.55, 80.0}}) {
    const SharesFit fit = fit_shares(formula_products(matrix, half_k), measured_gpu());
    CHECK(fit.shares.matrix == doctest::Approx(matrix).epsilon(0.02));
    CHECK(fit.shares.half_k == doctest::Approx(half_k).epsilon(0.05));
    CHECK(fit.error.median < 0.01);
    CHECK(fit.error.rows == 18);
    CHECK(fit.dtype == "bf16");
  }
}

TEST_CASE("products: a table has measured products as they are, and reads back as written") {
  const auto products = formula_products(0.7, 150);
  const KernelTables made = tables_of(products, measured_gpu(), {"a GPU", "here", nullptr}, "p.csv");
  const KernelTables back = read_kernels(write_kernels(made), "t.csv");
  CHECK(back.hardware == "h100");
  CHECK(back.device == "a GPU");
  const MeasuredPeak peak{measured_gpu().half_flops, 3.35e12, 132, 2};
  for (const MeasuredProduct& one : products) {
    CAPTURE(one.m);
    CAPTURE(one.n);
    CAPTURE(one.k);
    const ProductShape shape{static_cast<double>(one.m), static_cast<double>(one.n), static_cast<double>(one.k)};
    CHECK(back.product(ProductKind::kHalf).seconds(shape, peak) * 1e6 == doctest::Approx(one.us).epsilon(1e-3));
  }
  // Between the nodes, near what the formula gives.
  const double between = back.product(ProductKind::kHalf).seconds({2048, 2048, 2048}, peak) * 1e6;
  CHECK(between > products.front().us);
  CHECK(between < products.back().us);
}

TEST_CASE("products: a table needs some in 16 bits, and two of each size") {
  const auto refused = [](std::vector<MeasuredProduct> products) {
    return first_problem([&] {
             (void)tables_of(products, measured_gpu(), {"a GPU", "here", nullptr}, "p.csv");
           })
        .message;
  };
  CHECK(contains(refused({{512, 512, 512, "fp32", 90, 0}}), "needs products in bf16 or fp16"));
  std::vector<MeasuredProduct> few{{512, 512, 512, "bf16", 5, 0}, {1024, 512, 1024, "bf16", 9, 0}};
  CHECK(contains(refused(few), "too few products in bf16"));
  few.push_back({512, 1024, 512, "bf16", 7, 0});
  CHECK(refused(few).empty());
}

TEST_CASE("products: what the hardware's own table has beside products stays") {
  const auto base = installed_kernels("h100");
  const KernelTables made = tables_of(formula_products(0.7, 150), measured_gpu(), {"a GPU", "here", base}, "p.csv");
  const KernelTables back = read_kernels(write_kernels(made), "t.csv");
  CHECK(back.memory_forward == doctest::Approx(base->memory_forward));
  CHECK(back.attention.share({true, true, 128, 128}, 4096, 32) ==
        doctest::Approx(base->attention.share({true, true, 128, 128}, 4096, 32)).epsilon(1e-4));
  CHECK(back.accumulation.share(2048) == doctest::Approx(base->accumulation.share(2048)).epsilon(1e-3));
}

}  // namespace debubble::testing
