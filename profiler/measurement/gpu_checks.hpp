// Checks on a machine with a GPU: what the profiler relies on and no document settles.
//
//     GpuCheck "timestamps"     granularity 32 ns, gap on one stream 1100 ns, gap across streams 2300 ns
//     GpuCheck "overhead"       2000 kernels: +41 % with kernel records, +78 % with launches, +95 % with ranges
//
// Figures are measured on this machine, now; nothing is compared with a stored value. Where there is a right answer,
// `passed` says whether it came out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gpu/workload/device.hpp"

namespace debubble {

struct GpuFigure {
  std::string name;  // "gap_on_one_stream"
  std::int64_t value = 0;
  std::string unit;  // "ns", "ppm", "bytes" or "count"

  friend bool operator==(const GpuFigure&, const GpuFigure&) = default;
};

struct GpuCheck {
  std::string name;            // "contexts", "overhead", "timestamps", "durations", "memory", "numbers"
  std::string question;        // one sentence
  std::optional<bool> passed;  // absent: it only informs
  std::string remark;          // what failed, or what to make of the figures; may be empty
  std::vector<GpuFigure> figures;
};

struct GpuCheckOptions {
  int device = 0;
  int kernels = 2000;                                                              // of the overhead check
  std::vector<DataType> types{DataType::kFp32, DataType::kFp16, DataType::kBf16};  // of the numbers check
  std::string cupti_library;                                                       // see RecorderOptions
};

// All checks, in a fixed order: about ten seconds on a GPU. Throws UnavailableError like measure_workload. A check that
// cannot be made for another reason is there with passed = false and the reason as its remark.
[[nodiscard]] std::vector<GpuCheck> run_gpu_checks(const GpuCheckOptions& options,
                                                   const std::function<void(int, int, const std::string&)>& progress);

}  // namespace debubble
