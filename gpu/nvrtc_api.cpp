#include "gpu/nvrtc_api.hpp"

#include <algorithm>

#include "gpu/cuda_library.hpp"
#include "gpu/driver_version.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

void check(const Nvrtc& nvrtc, nvrtc::Status status, const std::string& what, const std::string& log = "") {
  if (status == nvrtc::kSuccess) return;
  throw UnavailableError({"U027", nvrtc.library,
                          what + " failed: " + nvrtc.call.status_text(status) + (log.empty() ? "" : "\n" + log),
                          "this is an NVRTC that debubble has not met: please report its version and this log"});
}

// Destroys the program at the end of the scope.
class ProgramOwner {
 public:
  ProgramOwner(const Nvrtc& nvrtc, const std::string& source, const std::string& name) : nvrtc_(nvrtc) {
    check(nvrtc, nvrtc.call.create(&program_, source.c_str(), name.c_str(), 0, nullptr, nullptr), "NVRTC's start");
  }
  ~ProgramOwner() { nvrtc_.call.destroy(&program_); }
  ProgramOwner(const ProgramOwner&) = delete;
  ProgramOwner& operator=(const ProgramOwner&) = delete;

  [[nodiscard]] nvrtc::Program get() const { return program_; }

 private:
  const Nvrtc& nvrtc_;
  nvrtc::Program program_ = nullptr;
};

using SizeOf = nvrtc::Status (*)(nvrtc::Program, std::size_t*);
using TextOf = nvrtc::Status (*)(nvrtc::Program, char*);

std::string fetch(const Nvrtc& nvrtc, nvrtc::Program program, SizeOf size_of, TextOf text_of) {
  std::size_t bytes = 0;
  check(nvrtc, size_of(program, &bytes), "reading NVRTC's result");
  std::string text(bytes, '\0');
  if (bytes > 0) check(nvrtc, text_of(program, text.data()), "reading NVRTC's result");
  return text;
}

std::vector<int> known_targets(const Nvrtc& nvrtc) {
  int count = 0;
  check(nvrtc, nvrtc.call.target_count(&count), "asking NVRTC for its targets");
  std::vector<int> targets(static_cast<std::size_t>(count));
  if (count > 0) check(nvrtc, nvrtc.call.targets(targets.data()), "asking NVRTC for its targets");
  std::sort(targets.begin(), targets.end());
  return targets;
}

// The newest target that is not newer than the GPU; PTX of it runs on the GPU too.
int target_for(const Nvrtc& nvrtc, int capability) {
  const std::vector<int> targets = known_targets(nvrtc);
  const auto above = std::upper_bound(targets.begin(), targets.end(), capability);
  if (above != targets.begin()) return *std::prev(above);
  throw UnavailableError({"U023", nvrtc.library,
                          "this NVRTC does not know GPUs of compute capability " + std::to_string(capability / 10) +
                              "." + std::to_string(capability % 10),
                          "use the NVRTC of an older CUDA toolkit: CUDA 12 knows GPUs from 5.0 on"});
}

}  // namespace

Nvrtc load_nvrtc(int driver_version) {
  const CudaLibrary library =
      CudaLibrary::find({"DEBUBBLE_NVRTC", names_for_driver("libnvrtc.so", driver_version), toolkit_folders()});
  if (!library.is_open()) {
    throw UnavailableError({"U023", "", "the compiler NVRTC is missing: " + library.problem(),
                            "install the CUDA toolkit, or `pip install nvidia-cuda-nvrtc` in the active environment; "
                            "DEBUBBLE_NVRTC=PATH names the library to load"});
  }
  Nvrtc found;
  found.library = library.name();
  std::string missing;
#define DEBUBBLE_TAKE(name, symbol, result, parameters) library.take(#symbol, found.call.name, missing);
  DEBUBBLE_NVRTC_FUNCTIONS(DEBUBBLE_TAKE)
#undef DEBUBBLE_TAKE
  if (!missing.empty()) {
    throw UnavailableError({"U023", found.library, "this NVRTC lacks " + missing, "install that of CUDA 12 or 13"});
  }
  int major = 0;
  int minor = 0;
  check(found, found.call.version(&major, &minor), "asking NVRTC for its version");
  found.version = major * 1000 + minor * 10;
  require_driver_for("NVRTC", found.library, found.version, driver_version);
  return found;
}

std::string compile_for(const Nvrtc& nvrtc, const std::string& source, const std::string& name, int capability,
                        const std::vector<std::string>& more_options) {
  const int target = target_for(nvrtc, capability);
  const bool exact = target == capability;
  std::vector<std::string> options{
      std::string("--gpu-architecture=") + (exact ? "sm_" : "compute_") + std::to_string(target), "--std=c++17"};
  options.insert(options.end(), more_options.begin(), more_options.end());
  std::vector<const char*> pointers;
  pointers.reserve(options.size());
  for (const std::string& option : options) pointers.push_back(option.c_str());
  const ProgramOwner program(nvrtc, source, name);
  const nvrtc::Status status = nvrtc.call.compile(program.get(), static_cast<int>(pointers.size()), pointers.data());
  if (status != nvrtc::kSuccess) {
    const std::string log = fetch(nvrtc, program.get(), nvrtc.call.log_size, nvrtc.call.log);
    check(nvrtc, status, "compiling " + name + " for compute capability " + std::to_string(capability),
          log.substr(0, log.find('\0')));
  }
  return exact ? fetch(nvrtc, program.get(), nvrtc.call.cubin_size, nvrtc.call.cubin)
               : fetch(nvrtc, program.get(), nvrtc.call.ptx_size, nvrtc.call.ptx);
}

}  // namespace debubble
