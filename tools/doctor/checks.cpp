#include "tools/doctor/checks.hpp"

#include <dlfcn.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "formats/version.hpp"
#include "gpu/cublaslt_api.hpp"
#include "gpu/cuda_library.hpp"
#include "gpu/driver_api.hpp"
#include "gpu/nvrtc_api.hpp"
#include "live/cpu/cores.hpp"
#include "live/cpu/matrix.hpp"
#include "live/mpi/plugin_loader.hpp"
#include "profiler/cupti/release.hpp"
#include "profiler/cupti/table.hpp"
#include "schedules/optimal/program/solver_loader.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"
#include "studies/measure/places.hpp"
#include "studies/parallel.hpp"
#include "tools/doctor/build_facts.hpp"
#include "tools/figures/cairo.hpp"

namespace debubble {

namespace {

namespace fs = std::filesystem;

constexpr int kAnyVersion = 999000;  // without a driver nothing can be too new

bool exists(const char* path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool in_container() { return exists("/.dockerenv") || exists("/run/.containerenv") || std::getenv("SINGULARITY_NAME"); }

std::string whole_file(const char* path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string with_help(const Diagnostic& problem) {
  return problem.help.empty() ? problem.message : problem.message + "; " + problem.help;
}

// A check that is a value or an UnavailableError.
MachineCheck machine_check(const std::string& what, const std::function<std::string()>& find) {
  try {
    return {what, "ok", find()};
  } catch (const UnavailableError& error) {
    return {what, "missing", with_help(error.diagnostic())};
  }
}

std::string gpus_text(const CudaDriver& driver) {
  initialise(driver);
  int count = 0;
  check_cuda(driver, driver.call.device_count(&count), "counting the GPUs");
  std::string names;
  for (int k = 0; k < count; ++k) {
    cuda::Device device = 0;
    std::array<char, 256> name{};
    check_cuda(driver, driver.call.device_get(&device, k), "opening a GPU");
    check_cuda(driver, driver.call.device_name(name.data(), static_cast<int>(name.size()), device), "naming a GPU");
    names += (names.empty() ? "" : ", ") + std::string(name.data());
  }
  return std::to_string(count) + (count == 1 ? " GPU: " : " GPUs: ") + names;
}

std::string driver_text(const CudaDriver& driver) {
  const std::string kernel = kernel_driver_version(whole_file("/proc/driver/nvidia/version"));
  return (kernel.empty() ? driver.library : kernel) + ", for CUDA up to " + cuda_version_text(driver.version);
}

// The driver, and the libraries that have to fit it.
void check_cuda_libraries(std::vector<MachineCheck>& checks) {
  int version = 0;
  checks.push_back(machine_check("CUDA driver", [&version] {
    const CudaDriver driver = load_cuda_driver();
    version = driver.version;
    return driver_text(driver);
  }));
  if (version > 0) checks.push_back(machine_check("GPU", [] { return gpus_text(load_cuda_driver()); }));
  if (version == 0 && in_container()) {
    checks.push_back(
        {"container", "note", "a container sees GPUs only when it is started with them: docker run --gpus all"});
  } else if (version > 0 && !exists("/dev/nvidiactl")) {
    checks.push_back(
        {"device files", "note",
         "there is no /dev/nvidiactl: a container needs --gpus all, a machine the driver's kernel module"});
  }
  checks.push_back(machine_check("cuBLASLt", [version] {
    const CublasLt library = load_cublaslt(version > 0 ? version : kAnyVersion);
    return library.library + ", CUDA " + cuda_version_text(library.runtime_version);
  }));
  checks.push_back(machine_check("NVRTC", [version] {
    const Nvrtc library = load_nvrtc(version > 0 ? version : kAnyVersion);
    return library.library + ", CUDA " + cuda_version_text(library.version);
  }));
}

void check_cupti(std::vector<MachineCheck>& checks) {
  std::vector<std::string> notes;
  checks.push_back(machine_check("CUPTI", [&notes] {
    const CuptiTable cupti = load_cupti("");
    notes = cupti.notes;
    return cupti.path + ", CUDA " + release_text(cuda_of_cupti(cupti.version)) + ", " + cupti.why +
           "; a program that has loaded one of its own keeps that, unless DEBUBBLE_CUPTI names another; tracing needs "
           "no privilege";
  }));
  for (const std::string& note : notes) checks.push_back({"CUPTI", "note", note});
}

MachineCheck nvml_check() {
  const CudaLibrary library = CudaLibrary::find({"", {"libnvidia-ml.so.1"}, {}});
  if (library.is_open()) return {"NVML", "ok", library.name() + ": clocks are sampled"};
  return {"NVML", "missing", "clocks are not sampled; it comes with the driver"};
}

std::string processors_text() {
  const live::Cores cores = live::usable_cores();
  return std::to_string(cores.usable()) + " usable (" + live::to_string(cores) + "): `live` times up to " +
         counted(std::max(cores.usable() - 1, 0), "device") + " by the wall clock";
}

MachineCheck products_check() {
  const live::MatmulLibrary& products = live::MatmulLibrary::best();
  const bool own = products.name() == live::MatmulLibrary::own().name();
  return {
      "OpenBLAS", own ? "note" : "ok",
      own ? "not found; `live` uses its own matrix products: apt-get install libopenblas0-pthread" : products.name()};
}

MachineCheck mpi_check() {
  return machine_check("MPI", [] {
    (void)live::load_message_passing();
    return std::string("the plugin is there: mpirun -n 4 debubble live --backend mpi");
  });
}

MachineCheck solver_check() {
  return machine_check(
      "CBC", [] { return std::string(load_mixed_solver().name()) + ": --schedule optimal --param solver=cbc"; });
}

MachineCheck figures_check() {
  return machine_check("cairo", [] { return figure::cairo_text() + ": figures as PDF and PNG"; });
}

// Loaded as the CUDA driver and NVTX load it: a file that is there may still need a newer system than this one.
std::string loaded_injection_library() {
  const std::string path = injection_library().string();
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = ::dlerror();
    throw UnavailableError({"U040", path, std::string("it cannot be loaded: ") + (reason == nullptr ? "" : reason),
                            "build debubble on this system, or install a package made for it"});
  }
  for (const char* const entry : {"InitializeInjection", "InitializeInjectionNvtx2", "debubble_push"}) {
    if (::dlsym(library, entry) != nullptr) continue;
    throw UnavailableError({"U040", path, path + " has no " + entry, "build and install debubble again"});
  }
  return path;
}

// Tools that are loaded into programs by the same variables, or that hold CUPTI for themselves.
void check_other_tools(std::vector<MachineCheck>& checks) {
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "KINETO_USE_DAEMON"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    checks.push_back({"other profiler", "note",
                      std::string(name) + "=" + value + ": only one tool can record at a time; unset it to measure"});
  }
}

}  // namespace

std::vector<MachineCheck> check_machine() {
  const std::string toolkit(kCudaToolkitAtBuild);
  const std::string problem(kCudaProblemAtBuild);
  std::vector<MachineCheck> checks{
      {"simulation", "ok", "needs no GPU, no network and no other program"},
      {"compressed traces", "ok", std::string("zlib ") + ::zlibVersion()},
      {"processors", "ok", processors_text()},
      {"threads", "ok", parallel_library() + ": sweeps, plans and what-ifs use all cores"},
      products_check(),
      mpi_check(),
      solver_check(),
      figures_check(),
      {"CUDA when built", toolkit.empty() ? "missing" : "ok",
       !toolkit.empty()   ? toolkit
       : !problem.empty() ? problem + "; none is needed"
                          : "none was found; none is needed"},
  };
  check_cuda_libraries(checks);
  check_cupti(checks);
  checks.push_back(nvml_check());
  checks.push_back(machine_check("injection library", loaded_injection_library));
  check_other_tools(checks);
  return checks;
}

}  // namespace debubble
