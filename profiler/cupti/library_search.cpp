#include "profiler/cupti/library_search.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "profiler/cupti/release.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

// Sonames carry CUDA's version: "11.6" to "11.8" in CUDA 11, only the major number from 12 on.
constexpr std::array<std::pair<int, const char*>, 5> kCuptiSonames = {{{13000, "libcupti.so.13"},
                                                                       {12000, "libcupti.so.12"},
                                                                       {11080, "libcupti.so.11.8"},
                                                                       {11070, "libcupti.so.11.7"},
                                                                       {11060, "libcupti.so.11.6"}}};

UnavailableError cupti_not_found(std::string message) {
  return UnavailableError({"U001", "", std::move(message),
                           "install the CUDA toolkit's CUPTI (package cuda-cupti), or pip install nvidia-cuda-cupti "
                           "(nvidia-cuda-cupti-cu12 for CUDA 12) in the active environment, or set DEBUBBLE_CUPTI to "
                           "the path of libcupti.so"});
}

std::string load_failure() {
  const char* const text = dlerror();
  return text == nullptr ? "unknown reason" : text;
}

std::string_view file_name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "libcupti.so.12", and what packagers make of it: "libcupti-d02b1d63.so.11.8".
bool is_cupti_name(std::string_view name) {
  return name.starts_with("libcupti") && name.find(".so") != std::string_view::npos;
}

struct LoadedCupti {
  void* handle = nullptr;
  std::string path;
  int release = 0;
};

std::vector<LoadedCupti> loaded_copies() {
  std::vector<LoadedCupti> copies;
  for (const std::string& path : loaded_objects()) {
    if (!is_cupti_name(file_name_of(path))) continue;
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    using GetVersion = std::int32_t (*)(std::uint32_t*);
    const auto get_version = reinterpret_cast<GetVersion>(dlsym(handle, "cuptiGetVersion"));
    std::uint32_t version = 0;
    if (get_version == nullptr || (may_be_called(handle) && get_version(&version) != 0)) continue;
    copies.push_back({handle, path, cuda_of_cupti(version)});
  }
  return copies;
}

FoundCupti open_named(const std::string& path, const std::string& by) {
  FoundCupti found{.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), .why = "named by " + by, .others = {}};
  if (found.handle == nullptr) {
    throw cupti_not_found("the CUPTI library that was named does not load: " + load_failure());
  }
  for (const LoadedCupti& copy : loaded_copies()) {
    if (copy.handle != found.handle) found.others.push_back(copy.path);
  }
  return found;
}

// The newest that the driver supports; if it supports none, the oldest.
FoundCupti choose_loaded(std::vector<LoadedCupti> copies) {
  const int driver = copies.size() > 1 ? cuda_of_driver() : 0;
  const auto before = [driver](const LoadedCupti& a, const LoadedCupti& b) {
    const bool a_fits = driver == 0 || a.release <= driver;
    const bool b_fits = driver == 0 || b.release <= driver;
    if (a_fits != b_fits) return a_fits;
    return a_fits ? a.release > b.release : a.release < b.release;
  };
  std::stable_sort(copies.begin(), copies.end(), before);
  FoundCupti found{.handle = copies.front().handle, .why = "loaded by this process already", .others = {}};
  for (std::size_t i = 1; i < copies.size(); ++i) found.others.push_back(copies[i].path);
  return found;
}

std::string driver_words(int driver) {
  if (driver == 0) return "no driver to choose by";
  return "the driver supports CUDA " + release_text(driver);
}

FoundCupti search_cupti() {
  const int driver = cuda_of_driver();
  const std::vector<std::string> folders = cupti_folders();
  const auto try_path = [](const std::string& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); };
  for (const std::string& name : cupti_names(driver)) {
    if (void* const handle = try_path(name); handle != nullptr) {
      return {handle, "known to the system's loader as " + name + "; " + driver_words(driver), {}};
    }
    for (const std::string& folder : folders) {
      if (void* const handle = try_path(folder + "/" + name); handle != nullptr) {
        return {handle, "found in " + folder + "; " + driver_words(driver), {}};
      }
    }
  }
  std::string looked;
  for (const std::string& folder : folders) looked += ", " + folder;
  throw cupti_not_found(
      "the CUPTI library was not found: no libcupti.so.13, .12, .11.8, .11.7 or .11.6 where the "
      "system's loader looks" +
      looked);
}

}  // namespace

std::vector<std::string> loaded_objects() {
  std::vector<std::string> paths;
  const auto add = [](dl_phdr_info* info, std::size_t, void* into) {
    if (info->dlpi_name != nullptr && *info->dlpi_name != '\0') {
      static_cast<std::vector<std::string>*>(into)->emplace_back(info->dlpi_name);
    }
    return 0;
  };
  dl_iterate_phdr(add, &paths);
  return paths;
}

// cuDriverGetVersion needs no cuInit before it: its documentation (CUDA Driver API, "Version Management") names
// CUDA_ERROR_INVALID_VALUE as its only error; libcupti itself looks it up.
int cuda_of_driver() {
  const char* const named = std::getenv("DEBUBBLE_LIBCUDA");
  const std::string name = named == nullptr || *named == '\0' ? "libcuda.so.1" : named;
  void* const driver = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return 0;
  using GetVersion = int (*)(int*);
  const auto get_version = reinterpret_cast<GetVersion>(dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  return get_version != nullptr && get_version(&version) == 0 ? version : 0;
}

bool may_be_called(void* library) {
  const bool of_13_2_or_later = dlsym(library, "cuptiActivityEnable_v2") != nullptr;
  return !of_13_2_or_later || cuda_of_driver() > 0;
}

std::vector<std::string> cupti_names(int driver) {
  std::vector<std::string> names;
  std::vector<std::string> newer;
  for (const auto& [release, name] : kCuptiSonames) {
    if (driver == 0 || release <= driver) {
      names.emplace_back(name);
    } else {
      newer.insert(newer.begin(), name);
    }
  }
  names.insert(names.end(), newer.begin(), newer.end());
  names.emplace_back("libcupti.so");
  return names;
}

FoundCupti find_cupti(const std::string& configured) {
  if (!configured.empty()) return open_named(configured, "the caller");
  if (const char* const path = std::getenv("DEBUBBLE_CUPTI"); path != nullptr && *path != '\0') {
    return open_named(path, "DEBUBBLE_CUPTI");
  }
  if (std::vector<LoadedCupti> copies = loaded_copies(); !copies.empty()) return choose_loaded(std::move(copies));
  return search_cupti();
}

}  // namespace debubble
