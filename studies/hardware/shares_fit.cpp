// Shares of the peak fitted to measured products.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "cost_models/transformer/kernel_time.hpp"
#include "sim/core/median.hpp"
#include "sim/core/quantities.hpp"
#include "studies/hardware/descent.hpp"
#include "studies/hardware/products.hpp"

namespace debubble {
namespace {

NumberFormat format_of_product(const std::string& dtype) {
  if (dtype == "fp32") return NumberFormat::kFp32;
  if (dtype == "fp16") return NumberFormat::kFp16;
  return dtype == "bf16" ? NumberFormat::kBf16 : NumberFormat::kFp8;
}

LayerOp op_of(const MeasuredProduct& product) {
  LayerOp op;
  op.m = product.m;
  op.n = product.n;
  op.k = product.k;
  op.format = format_of_product(product.dtype);
  const auto m = static_cast<double>(product.m);
  const auto n = static_cast<double>(product.n);
  const auto k = static_cast<double>(product.k);
  op.flops = 2 * m * n * k;
  const int operand = bytes_of(op.format);
  op.bytes = std::llround(operand * (m + n) * k + std::max(operand, 2) * m * n);
  return op;
}

// That of which most products are given.
std::string most_frequent(const std::vector<MeasuredProduct>& products) {
  std::map<std::string, int> counts;
  for (const MeasuredProduct& one : products) ++counts[one.dtype];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

class SharesDescent {
 public:
  SharesDescent(std::vector<MeasuredProduct> products, const Hardware& hardware) : products_(std::move(products)) {
    for (const MeasuredProduct& one : products_) ops_.push_back(op_of(one));
    model_.hardware = hardware;
    model_.efficiency = usual_efficiency(hardware);
    model_.efficiency.sustained = 1;
  }

  Efficiency run() {
    const DescentLattice<2> lattice{{0.8, 145}, {0.1, 60}, {{{0.001, 1.0}, {0.0, 10'000.0}}}, 40};
    const auto error = [this](const std::array<double, 2>& shares) { return mean_error(shares); };
    (void)mean_error(least_on(lattice, error));
    return model_.efficiency;
  }

  [[nodiscard]] TableError error() const {
    std::vector<double> off;
    for (std::size_t k = 0; k < ops_.size(); ++k) off.push_back(std::abs(modelled_us(k) / products_[k].us - 1));
    return {static_cast<std::int64_t>(off.size()), upper_median(off), tenths_percentile(off, 9)};
  }

 private:
  [[nodiscard]] double modelled_us(std::size_t k) const {
    return std::max(1e-3, static_cast<double>(kernel_time(ops_[k], model_)) / 1e3);
  }

  double mean_error(const std::array<double, 2>& shares) {
    model_.efficiency.matrix = shares[0];
    model_.efficiency.half_k = shares[1];
    double sum = 0;
    for (std::size_t k = 0; k < ops_.size(); ++k) sum += std::abs(std::log(modelled_us(k) / products_[k].us));
    return sum / static_cast<double>(ops_.size());
  }

  std::vector<MeasuredProduct> products_;
  std::vector<LayerOp> ops_;
  KernelModel model_;
};

// Four digits say enough.
double rounded(double value) { return std::round(value * 1e4) / 1e4; }

}  // namespace

SharesFit fit_shares(const std::vector<MeasuredProduct>& products, const Hardware& hardware) {
  SharesFit made;
  made.dtype = most_frequent(products);
  std::vector<MeasuredProduct> chosen;
  std::copy_if(products.begin(), products.end(), std::back_inserter(chosen),
               [&made](const MeasuredProduct& one) { return one.dtype == made.dtype; });
  SharesDescent descent(std::move(chosen), hardware);
  made.shares = descent.run();
  made.shares.matrix = rounded(made.shares.matrix);
  made.shares.half_k = rounded(made.shares.half_k);
  made.error = descent.error();
  return made;
}

std::string error_text(const TableError& error) {
  return format_percent(error.median) + " off in the median, one in ten more than " + format_percent(error.tenth);
}

}  // namespace debubble
