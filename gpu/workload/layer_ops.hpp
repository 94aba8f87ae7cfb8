// LayerOps: the steps that layers are made of, on one device and for one shard. All matrices are row-major with
// `shard.tokens()` rows unless a step says otherwise; weights are stored [out, in]. 0 means that there is no
// bias. Everything is issued, nothing waited for.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "gpu/workload/device.hpp"
#include "gpu/workload/kernels.hpp"
#include "gpu/workload/shard.hpp"

namespace debubble {

struct LinearBuffers {
  DeviceAddress weight = 0;
  DeviceAddress bias = 0;
  DeviceAddress weight_grad = 0;
  DeviceAddress bias_grad = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
};

// `mean` is 0 for RMSNorm.
struct Norm {
  DeviceAddress weight = 0;
  DeviceAddress weight_grad = 0;
  DeviceAddress mean = 0;
  DeviceAddress rstd = 0;
};

class LayerOps {
 public:
  LayerOps(WorkDevice& device, const Shard& shard) : device_(device), shard_(shard) {}

  [[nodiscard]] const Shard& shard() const { return shard_; }
  [[nodiscard]] WorkDevice& device() { return device_; }

  void fill(DeviceAddress out, std::int64_t count, std::int64_t seed, float mean, float deviation);

  // Without the bias: the step after adds it.
  void multiply(const LinearBuffers& linear, DeviceAddress x, DeviceAddress out);
  void input_grad(const LinearBuffers& linear, DeviceAddress dout, DeviceAddress dx);
  // Of weight and bias; `partials` has room for partial_floats(out).
  void weight_grad(const LinearBuffers& linear, DeviceAddress dout, DeviceAddress x, DeviceAddress partials);

  void normalise(const Norm& norm, DeviceAddress x, DeviceAddress out);
  void normalise_back(const Norm& norm, DeviceAddress dout, DeviceAddress x, DeviceAddress residual_grad,
                      DeviceAddress dx);
  // `partials` has room for norm_partial_floats().
  void norm_weight_grad(const Norm& norm, DeviceAddress dout, DeviceAddress x, DeviceAddress partials);

  void add_bias(DeviceAddress x, DeviceAddress bias, std::int64_t width);
  void add_residual(DeviceAddress x, DeviceAddress bias, DeviceAddress residual, DeviceAddress out);
  void activate(DeviceAddress in, DeviceAddress bias, DeviceAddress out);
  void activate_back(DeviceAddress in, DeviceAddress bias, DeviceAddress dout, DeviceAddress din);
  void gemm(const Gemm& gemm) { device_.gemm(gemm); }

  template <typename... Arguments>
  void launch(std::string_view kernel, std::int64_t blocks, std::int32_t threads, Arguments... arguments) {
    const std::array<void*, sizeof...(Arguments)> pointers{&arguments...};
    device_.launch({kernel, blocks < kMostBlocks ? blocks : kMostBlocks, threads, 0, pointers});
  }
  // One block per row, threads to fit the width.
  template <typename... Arguments>
  void launch_rows(std::string_view kernel, std::int64_t rows, std::int64_t width, Arguments... arguments) {
    launch(kernel, rows, row_threads(width, shard_.type), arguments...);
  }

  // Room that the sums over `width` columns need.
  [[nodiscard]] std::int64_t partial_floats(std::int64_t width) const;
  // The rows are split as for `hidden` columns, but each partial row is as wide as the norm's weight and bias.
  [[nodiscard]] std::int64_t norm_partial_floats() const;

 private:
  static constexpr std::int64_t kMostBlocks = (std::int64_t{1} << 31) - 1;

  void add_partials(DeviceAddress partials, DeviceAddress out, std::int64_t chunks, std::int64_t width);

  WorkDevice& device_;
  Shard shard_;
};

}  // namespace debubble
