#include "gpu/cublaslt_api.hpp"

#include "gpu/cuda_library.hpp"
#include "gpu/driver_version.hpp"
#include "sim/core/error.hpp"

namespace debubble {

CublasLt load_cublaslt(int driver_version) {
  const CudaLibrary library =
      CudaLibrary::find({"DEBUBBLE_CUBLASLT", names_for_driver("libcublasLt.so", driver_version), toolkit_folders()});
  if (!library.is_open()) {
    throw UnavailableError({"U023", "", "the library cuBLASLt is missing: " + library.problem(),
                            "install the CUDA toolkit, or `pip install nvidia-cublas` in the active environment; "
                            "DEBUBBLE_CUBLASLT=PATH names the library to load"});
  }
  CublasLt found;
  found.library = library.name();
  std::string missing;
#define DEBUBBLE_TAKE(name, symbol, result, parameters) library.take(#symbol, found.call.name, missing);
  DEBUBBLE_CUBLASLT_FUNCTIONS(DEBUBBLE_TAKE)
#undef DEBUBBLE_TAKE
  if (!missing.empty()) {
    throw UnavailableError({"U023", found.library, "this cuBLASLt lacks " + missing, "install that of CUDA 12 or 13"});
  }
  found.version = static_cast<int>(found.call.version());
  found.runtime_version = static_cast<int>(found.call.runtime_version());
  require_driver_for("cuBLASLt", found.library, found.runtime_version, driver_version);
  return found;
}

void check_cublaslt(const CublasLt& library, cublaslt::Status status, const std::string& what) {
  if (status == cublaslt::kSuccess) return;
  const char* name = library.call.status_name(status);
  throw UnavailableError({"U027", library.library,
                          what + " failed: " + (name == nullptr ? "status " + std::to_string(status) : name),
                          "cuBLASLt says why on stderr with CUBLASLT_LOG_LEVEL=2"});
}

}  // namespace debubble
