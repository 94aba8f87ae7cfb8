#include "profiler/cupti/table.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "profiler/cupti/library_search.hpp"
#include "profiler/cupti/refusals.hpp"
#include "profiler/cupti/release.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

UnavailableError lacks_function(const std::string& name) {
  return UnavailableError({"U001", "", "the CUPTI library has no function " + name,
                           "set DEBUBBLE_CUPTI to the path of a libcupti.so of CUDA 11.6 or later"});
}

template <class Pointer>
void find_if_there(void* library, const char* name, Pointer& pointer) {
  pointer = reinterpret_cast<Pointer>(dlsym(library, name));
}

template <class Pointer>
void need(void* library, const char* name, Pointer& pointer) {
  find_if_there(library, name, pointer);
  if (pointer == nullptr) throw lacks_function(name);
}

CuptiTable functions_of(void* library) {
  CuptiTable table;
  need(library, "cuptiGetVersion", table.get_version);
  need(library, "cuptiGetResultString", table.get_result_string);
  find_if_there(library, "cuptiGetTimestamp", table.get_timestamp);
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
  table.has_scoped_calls = dlsym(library, "cuptiActivityEnable_v2") != nullptr;
  return table;
}

std::string path_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

std::string version_words(std::uint32_t version) {
  const std::string release = release_text(cuda_of_cupti(version));
  return "CUPTI " + std::to_string(version) + (release.empty() ? "" : " (CUDA " + release + ")");
}

void check_version(CuptiTable& table) {
  const std::uint32_t version = table.version;
  if (is_tested(version)) return;
  const bool newer_minor = version > cupti_abi::kNewestVersion && version < cupti_abi::kNextMajor;
  if (newer_minor || std::getenv("DEBUBBLE_CUPTI_UNTESTED") != nullptr) {
    table.notes.push_back(version_words(version) +
                          " is not one that was tested (11.6 to 13.0): of its records what 13.0 has is read, and the "
                          "first ones are judged before they are believed");
    return;
  }
  const bool old = version < cupti_abi::kOldestVersion;
  throw UnavailableError({"U004", table.path,
                          version_words(version) + " is " +
                              (old ? "too old: 17 (CUDA 11.6) is the oldest that is understood"
                                   : "newer than what was tested: the newest that is tried is CUDA 13's"),
                          "set DEBUBBLE_CUPTI to a libcupti.so of CUDA 11.6 to 13, which is taken even where the "
                          "program has loaded another" +
                              std::string(old ? "" : ", or DEBUBBLE_CUPTI_UNTESTED=1 to try this one")});
}

}  // namespace

CuptiTable load_cupti(const std::string& configured) {
  const FoundCupti found = find_cupti(configured);
  CuptiTable table = functions_of(found.handle);
  table.path = path_of(reinterpret_cast<const void*>(table.get_version));
  table.why = found.why;
  for (const std::string& other : found.others) {
    table.notes.push_back("this process has loaded another CUPTI too, which was not taken: " + other);
  }
  if (!may_be_called(found.handle)) throw no_driver("this CUPTI cannot be used without one, " + table.path);
  const cupti_abi::Result result = table.get_version(&table.version);
  if (result != cupti_abi::kSuccess) throw refused_step(table, result, "cuptiGetVersion");
  check_version(table);
  return table;
}

std::string describe(const CuptiTable& cupti, cupti_abi::Result result) {
  const char* text = nullptr;
  if (cupti.get_result_string(result, &text) != cupti_abi::kSuccess || text == nullptr) text = "error";
  return std::string(text) + " (" + std::to_string(result) + ")";
}

}  // namespace debubble
