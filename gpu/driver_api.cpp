#include "gpu/driver_api.hpp"

#include <sstream>

#include "gpu/cuda_library.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

const char* help_for_start(cuda::Result error) {
  switch (error) {
    case cuda::kNoDevice:
      return "is a GPU built in and handed to this container or job (nvidia-smi, --gpus all), and is "
             "CUDA_VISIBLE_DEVICES right?";
    case 802:  // NVIDIA Fabric Manager for NVSwitch Systems User Guide
      return "GPUs behind NVSwitch (HGX, DGX) start only with the Fabric Manager: systemctl status "
             "nvidia-fabricmanager";
    case 804:  // CUDA Compatibility, "Forward Compatibility"
      return "CUDA's forward compatibility is not for this GPU: take the package's folder \"compat\" out of "
             "LD_LIBRARY_PATH, or update the driver";
    case 803:
      return "the driver's library and its kernel module have different versions: restart the machine after an update";
    case 999:
      return "often the kernel module is not loaded, or the container lacks /dev/nvidia*: does nvidia-smi work?";
    default:
      return "does nvidia-smi work on this machine?";
  }
}

[[noreturn]] void throw_stub(const CudaDriver& driver) {
  throw UnavailableError({"U020", driver.library, "this libcuda.so is the toolkit's stub for linking, not a driver",
                          "take the folder \"stubs\" out of LD_LIBRARY_PATH (and of DEBUBBLE_LIBCUDA)"});
}

// Digits and dots, at least one of each: "580.65.06".
bool is_version(const std::string& word) {
  return word.find_first_not_of("0123456789.") == std::string::npos && word.find('.') != std::string::npos &&
         word.front() != '.';
}

}  // namespace

CudaDriver load_cuda_driver() {
  const CudaLibrary library = CudaLibrary::find({"DEBUBBLE_LIBCUDA", {"libcuda.so.1"}, {}});
  if (!library.is_open()) {
    throw UnavailableError({"U020", "", "no CUDA driver on this machine: " + library.problem(),
                            "libcuda.so.1 comes with NVIDIA's driver (in a container: start it with --gpus all); "
                            "without a GPU, simulate with a recorded profile or import a trace"});
  }
  CudaDriver driver;
  driver.library = library.name();
  std::string missing;
#define DEBUBBLE_TAKE(name, symbol, parameters) library.take(#symbol, driver.call.name, missing);
  DEBUBBLE_CUDA_FUNCTIONS(DEBUBBLE_TAKE)
#undef DEBUBBLE_TAKE
#define DEBUBBLE_TAKE(name, symbol, parameters) library.take(#symbol, driver.live.name, driver.missing_for_live);
  DEBUBBLE_CUDA_LIVE_FUNCTIONS(DEBUBBLE_TAKE)
#undef DEBUBBLE_TAKE
  if (!missing.empty()) {
    throw UnavailableError({"U025", driver.library, "this CUDA driver lacks " + missing,
                            "it is too old or no driver at all; CUDA 12 needs driver 525 or newer"});
  }
  const cuda::Result result = driver.call.driver_version(&driver.version);
  if (result == cuda::kStubLibrary) throw_stub(driver);
  check_cuda(driver, result, "asking for the driver's version");
  return driver;
}

void initialise(const CudaDriver& driver) {
  const cuda::Result result = driver.call.init(0);
  if (result == cuda::kStubLibrary) throw_stub(driver);
  if (result == cuda::kSuccess) return;
  throw UnavailableError(
      {"U021", "", "the CUDA driver finds no GPU it can use: " + cuda_error(driver, result), help_for_start(result)});
}

std::string cuda_error(const CudaDriver& driver, cuda::Result error) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.call.error_name(error, &name) != cuda::kSuccess || name == nullptr) {
    return "CUDA error " + std::to_string(error);
  }
  if (driver.call.error_text(error, &text) != cuda::kSuccess || text == nullptr) return name;
  return std::string(name) + " (" + text + ")";
}

void check_cuda(const CudaDriver& driver, cuda::Result result, const std::string& what) {
  if (result == cuda::kSuccess) return;
  if (result == cuda::kOutOfMemory) {
    throw UnavailableError(
        {"U026", "", what + " failed: " + cuda_error(driver, result),
         "another program may hold the GPU's memory (nvidia-smi); a smaller --microbatch-size or --sequence "
         "needs less"});
  }
  throw UnavailableError({"U027", "", what + " failed: " + cuda_error(driver, result),
                          "is another program using the GPU, or has it fallen off the bus (dmesg, nvidia-smi)?"});
}

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string kernel_driver_version(const std::string& text) {
  std::istringstream words(text.substr(0, text.find('\n')));
  for (std::string word; words >> word;) {
    if (is_version(word)) return word;
  }
  return "";
}

}  // namespace debubble
