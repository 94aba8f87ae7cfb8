// The built-in measurement: runs the workload of one size under the recorder and returns the profile.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpu/workload/transformer_model.hpp"
#include "profiler/attribution/attribution.hpp"
#include "sim/core/profile.hpp"

namespace debubble {

struct SessionOptions {
  TransformerShape shape;
  WorkloadSize size;
  int device = 0;
  int steps = 20;             // recorded, not counting the warm-up and the unrecorded ones that measure the overhead
  std::string record_file;    // kept when not empty; else a temporary file
  std::string cupti_library;  // see RecorderOptions
  bool explain = false;
};

struct SessionResult {
  Attribution
      attribution;  // profile complete: model, dtype, sizes, origin with method and date, all layers of the model
  // The same passes timed by events instead of by kernels, and without the profiler: for tools/gpu-validate.
  struct Check {
    std::string layer;
    Pass pass;
    Nanoseconds by_kernels;
    Nanoseconds by_events;
  };
  std::vector<Check> checks;
};

// Throws UnavailableError where the machine lacks a GPU, CUPTI or a library. `progress(done, total, what)`.
[[nodiscard]] SessionResult measure_workload(const SessionOptions& options,
                                             const std::function<void(int, int, const std::string&)>& progress);

}  // namespace debubble
