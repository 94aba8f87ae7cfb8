// CudaDriver: the functions of libcuda.so.1, loaded at run time ($DEBUBBLE_LIBCUDA: path of the library to load).
#pragma once

#include <string>

#include "gpu/cuda_abi.hpp"

namespace debubble {

struct CudaDriver {
  cuda::Functions call;
  cuda::LiveFunctions live;      // complete only when `missing_for_live` is empty
  std::string missing_for_live;  // what this driver lacks of them
  std::string library;           // as it was opened
  int version = 0;               // highest CUDA version it supports: 13000 is 13.0
};

// Does not initialise the driver, so CUPTI may still be started. Throws UnavailableError U020 where there is no driver,
// or the toolkit's stub library in its place.
[[nodiscard]] CudaDriver load_cuda_driver();

// cuInit. Throws UnavailableError U021, with CUDA's name for the reason, where no GPU can be used.
void initialise(const CudaDriver& driver);

// "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)"
[[nodiscard]] std::string cuda_error(const CudaDriver& driver, cuda::Result error);

// Throws UnavailableError U027, or U026 where memory ran out, unless the call succeeded: "`what` failed: ...".
void check_cuda(const CudaDriver& driver, cuda::Result result, const std::string& what);

[[nodiscard]] std::string cuda_version_text(int version);  // 13000 -> "13.0"

// The driver's own version, "580.65.06", from the text of /proc/driver/nvidia/version; empty when there is none.
[[nodiscard]] std::string kernel_driver_version(const std::string& text);

}  // namespace debubble
