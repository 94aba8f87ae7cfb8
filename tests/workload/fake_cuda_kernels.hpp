// Running the workload's kernels on the host, from a module's text. See fake_cuda.hpp.
#pragma once

#include <string>

namespace debubble::testing {

// Parameters of a kernel in CUDA C++ text; -1: it is not there.
[[nodiscard]] int parameter_count(const std::string& text, const std::string& kernel);

// Runs every block; `arguments` as cuLaunchKernel gets them. Throws std::logic_error for a kernel nobody knows.
void run_kernel(const std::string& text, const std::string& kernel, unsigned blocks, unsigned threads,
                void** arguments);

}  // namespace debubble::testing
