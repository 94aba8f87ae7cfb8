// CublasLt: the functions of cuBLASLt, loaded at run time ($DEBUBBLE_CUBLASLT: path of the library to load).
#pragma once

#include <string>

#include "gpu/cublaslt_abi.hpp"

namespace debubble {

struct CublasLt {
  cublaslt::Functions call;
  std::string library;      // as it was opened
  int version = 0;          // of cuBLASLt itself
  int runtime_version = 0;  // of the CUDA it belongs to: 13000 is 13.0
};

// Prefers the version that belongs to the driver's CUDA (12 or 13). Throws UnavailableError U023 where there is none,
// U025 where the driver is older than the only one there is.
[[nodiscard]] CublasLt load_cublaslt(int driver_version);

// Throws UnavailableError U027 unless the call succeeded: "`what` failed: CUBLAS_STATUS_NOT_SUPPORTED".
void check_cublaslt(const CublasLt& library, cublaslt::Status status, const std::string& what);

}  // namespace debubble
