#include "live/mpi/nccl_library.hpp"

#include "gpu/cuda_library.hpp"
#include "sim/core/error.hpp"

namespace debubble::live {

namespace {

constexpr int kOldest = 21800;
constexpr const char* kInstallNccl =
    "install NCCL 2.18 or newer (package libnccl2, or `pip install nvidia-nccl-cu13` in the active environment); "
    "DEBUBBLE_LIBNCCL=PATH names the library to load";

}  // namespace

std::string nccl_version_text(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

Nccl load_nccl() {
  const CudaLibrary library = CudaLibrary::find({"DEBUBBLE_LIBNCCL", {"libnccl.so.2"}, toolkit_folders()});
  if (!library.is_open()) throw UnavailableError({"U054", "", "NCCL is missing: " + library.problem(), kInstallNccl});
  Nccl found;
  found.library = library.name();
  std::string missing;
#define DEBUBBLE_TAKE(name, symbol, result, parameters) library.take(#symbol, found.call.name, missing);
  DEBUBBLE_NCCL_FUNCTIONS(DEBUBBLE_TAKE)
#undef DEBUBBLE_TAKE
  if (!missing.empty()) throw UnavailableError({"U054", found.library, "this NCCL lacks " + missing, kInstallNccl});
  int version = 0;
  check_nccl(found, found.call.version(&version), "asking NCCL for its version");
  found.version = nccl_version_text(version);
  if (version < kOldest) {
    throw UnavailableError({"U054", found.library, "this NCCL is " + found.version + ", too old", kInstallNccl});
  }
  return found;
}

void check_nccl(const Nccl& library, nccl::Result result, const std::string& what) {
  if (result == nccl::kSuccess) return;
  const char* const text = library.call.error_text(result);
  const char* const more = library.call.last_error(nullptr);
  std::string reason = text == nullptr ? "result " + std::to_string(result) : text;
  if (more != nullptr && *more != '\0') reason += std::string(" (") + more + ")";
  throw UnavailableError(
      {"U027", library.library, what + " failed: " + reason, "NCCL_DEBUG=WARN makes NCCL say more on stderr"});
}

}  // namespace debubble::live
