// Probe: what calibration asks of the machine at hand. A GPU's runs cuBLASLt's products and our own kernels, as the
// profiler's workload does; the CPU's those of `live`: one core, in fp32.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/units.hpp"

namespace debubble {

struct ProbeFacts {
  std::string device;    // "NVIDIA H100 80GB HBM3", "one core of Intel Xeon ..."
  std::string software;  // "driver 580.65, CUDA 13.0", "OpenBLAS 0.3.21"
  Bytes memory = 0;
  int multiprocessors = 0;  // 0: nothing that runs one tile each
};

struct ProbeSizes {
  std::vector<std::int64_t> rows;   // m
  std::vector<std::int64_t> sides;  // n and k
};

class Probe {
 public:
  virtual ~Probe() = default;
  [[nodiscard]] virtual const ProbeFacts& facts() const = 0;
  [[nodiscard]] virtual std::vector<std::string> dtypes() const = 0;  // of products that it can run
  [[nodiscard]] virtual ProbeSizes sizes(const std::string& dtype) const = 0;
  // Of one product, the median of several; nothing where its matrices do not fit.
  [[nodiscard]] virtual std::optional<Nanoseconds> product(const std::string& dtype, std::int64_t m, std::int64_t n,
                                                           std::int64_t k) = 0;
  // Of a square product, run for seconds: what power and clocks allow. Its size, at most that, and one's time; nothing
  // where that is the same.
  [[nodiscard]] virtual std::optional<std::pair<std::int64_t, Nanoseconds>> long_product(const std::string& dtype,
                                                                                         std::int64_t size) = 0;
  // Bytes per second of sums of two arrays, which are read and written.
  [[nodiscard]] virtual double pass_bandwidth() = 0;
  // Bytes per second of a copy between host and device; nothing: not measured.
  [[nodiscard]] virtual std::optional<double> host_bandwidth() = 0;
  // What the host takes to start one kernel, without the software of a framework.
  [[nodiscard]] virtual Nanoseconds launch() = 0;
  // From one of the smallest kernels to the next.
  [[nodiscard]] virtual Nanoseconds kernel_gap() = 0;
};

[[nodiscard]] std::unique_ptr<Probe> cpu_probe();
// Throws UnavailableError where there is no such GPU, or a library is missing.
[[nodiscard]] std::unique_ptr<Probe> gpu_probe(int index);

}  // namespace debubble
