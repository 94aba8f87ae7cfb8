#include "profiler/cupti/table.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/error.hpp"

namespace debubble {

namespace {

constexpr std::array<const char*, 3> kCuptiNames = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};

UnavailableError no_cupti(std::string message) {
  return UnavailableError({"U001", "", std::move(message),
                           "install the CUDA toolkit's CUPTI (package cuda-cupti, or pip install nvidia-cuda-cupti) or "
                           "set DEBUBBLE_CUPTI to the path of libcupti.so"});
}

std::string last_error() {
  const char* const text = dlerror();
  return text == nullptr ? "unknown reason" : text;
}

// One of the places that a toolkit or a wheel puts it.
std::vector<std::string> usual_places() {
  std::vector<std::string> places(kCuptiNames.begin(), kCuptiNames.end());
  std::vector<std::string> roots;
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* const root = std::getenv(variable); root != nullptr && *root != '\0') roots.emplace_back(root);
  }
  roots.emplace_back("/usr/local/cuda");
  for (const std::string& root : roots) {
    for (const std::string_view folder : {"/extras/CUPTI/lib64/", "/lib64/", "/lib/"}) {
      for (const char* const name : kCuptiNames) places.push_back(root + std::string(folder) + name);
    }
  }
  return places;
}

void* open_configured(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw no_cupti("the CUPTI library that was named does not load: " + last_error());
  return library;
}

void* open_cupti(const std::string& configured) {
  for (const char* const name : kCuptiNames) {
    if (void* const loaded = dlopen(name, RTLD_NOW | RTLD_NOLOAD); loaded != nullptr) return loaded;
  }
  if (!configured.empty()) return open_configured(configured);
  if (const char* const path = std::getenv("DEBUBBLE_CUPTI"); path != nullptr && *path != '\0') {
    return open_configured(path);
  }
  for (const std::string& place : usual_places()) {
    if (void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr) return library;
  }
  throw no_cupti("the CUPTI library was not found: no libcupti.so.13, libcupti.so.12 or libcupti.so");
}

template <class Pointer>
void find_if_there(void* library, const char* name, Pointer& pointer) {
  pointer = reinterpret_cast<Pointer>(dlsym(library, name));
}

template <class Pointer>
void need(void* library, const char* name, Pointer& pointer) {
  find_if_there(library, name, pointer);
  if (pointer == nullptr) throw no_cupti(std::string("the CUPTI library has no function ") + name);
}

CuptiTable functions_of(void* library) {
  CuptiTable table;
  need(library, "cuptiGetVersion", table.get_version);
  need(library, "cuptiGetResultString", table.get_result_string);
  need(library, "cuptiSubscribe", table.subscribe);
  find_if_there(library, "cuptiSubscribe_v2", table.subscribe_v2);
  need(library, "cuptiUnsubscribe", table.unsubscribe);
  need(library, "cuptiSetThreadIdType", table.set_thread_id_type);
  need(library, "cuptiActivitySetAttribute", table.set_attribute);
  need(library, "cuptiActivityRegisterCallbacks", table.register_callbacks);
  need(library, "cuptiActivityEnable", table.enable);
  find_if_there(library, "cuptiActivityEnableAndDump", table.enable_and_dump);
  need(library, "cuptiActivityDisable", table.disable);
  find_if_there(library, "cuptiActivityEnableRuntimeApi", table.enable_runtime_api);
  find_if_there(library, "cuptiActivityEnableDriverApi", table.enable_driver_api);
  if (table.enable_driver_api == nullptr) table.enable_runtime_api = nullptr;
  need(library, "cuptiActivityGetNextRecord", table.next_record);
  need(library, "cuptiActivityGetNumDroppedRecords", table.dropped_records);
  need(library, "cuptiActivityFlushAll", table.flush_all);
  need(library, "cuptiActivityPushExternalCorrelationId", table.push_external);
  need(library, "cuptiActivityPopExternalCorrelationId", table.pop_external);
  return table;
}

std::string path_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

void check_version(const CuptiTable& table) {
  const std::uint32_t version = table.version;
  const bool is_long = version >= cupti_abi::kFirstLongVersion;
  const bool known =
      version >= cupti_abi::kOldestVersion && version <= cupti_abi::kNewestVersion && (is_long || version < 100);
  if (known || std::getenv("DEBUBBLE_CUPTI_UNTESTED") != nullptr) return;
  const bool old = version < cupti_abi::kOldestVersion;
  throw UnavailableError({"U004", table.path,
                          "CUPTI " + std::to_string(version) + " is " +
                              (old ? "too old: 17 (CUDA 11.6) is the oldest that is understood"
                                   : "newer than what was tested: 130099 (CUDA 13.0) is the newest"),
                          "set DEBUBBLE_CUPTI to a libcupti.so of CUDA 11.6 to 13.0" +
                              std::string(old ? "" : ", or DEBUBBLE_CUPTI_UNTESTED=1 to try this one")});
}

}  // namespace

CuptiTable load_cupti(const std::string& configured) {
  CuptiTable table = functions_of(open_cupti(configured));
  table.path = path_of(reinterpret_cast<const void*>(table.get_version));
  if (table.get_version(&table.version) != cupti_abi::kSuccess) table.version = 0;
  check_version(table);
  return table;
}

std::string describe(const CuptiTable& cupti, cupti_abi::Result result) {
  const char* text = nullptr;
  if (cupti.get_result_string(result, &text) != cupti_abi::kSuccess || text == nullptr) text = "error";
  return std::string(text) + " (" + std::to_string(result) + ")";
}

std::string cuda_release(std::uint32_t cupti_version) {
  if (cupti_version >= cupti_abi::kFirstLongVersion) {
    return std::to_string(cupti_version / 10000) + "." + std::to_string(cupti_version / 100 % 100);
  }
  // From cupti_version.h; where a number belongs to several releases, the first.
  constexpr std::array<std::pair<std::uint32_t, const char*>, 11> kReleases = {{{17, "11.6"},
                                                                                {18, "11.8"},
                                                                                {19, "12.0"},
                                                                                {20, "12.2"},
                                                                                {21, "12.3"},
                                                                                {22, "12.4"},
                                                                                {23, "12.5"},
                                                                                {24, "12.6"},
                                                                                {26, "12.8"},
                                                                                {27, "12.9"},
                                                                                {28, "12.9"}}};
  for (const auto& [version, release] : kReleases) {
    if (version == cupti_version) return release;
  }
  return "";
}

}  // namespace debubble
