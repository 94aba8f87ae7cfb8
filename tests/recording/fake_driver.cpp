#include "tests/recording/fake_driver.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace debubble::testing {

namespace {

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

// The entry point of the library that this variable names; null without one. A library that does not load is an error.
void* entry_point(const char* variable, const char* name) {
  const char* const path = std::getenv(variable);
  if (path == nullptr || *path == '\0') return nullptr;
  void* const library = dlopen(path, RTLD_NOW);
  void* const entry = library == nullptr ? nullptr : dlsym(library, name);
  if (entry == nullptr) {
    std::fprintf(stderr, "fake driver: %s\n", dlerror());
    std::exit(99);
  }
  return entry;
}

// NVTX's tables are arrays of pointers to function pointers; which ones, the callback says through this.
nvtx_abi::AnyFunction* core_pointers[16];
nvtx_abi::AnyFunction* core2_pointers[16];

int module_functions(int module, nvtx_abi::FunctionTable* table, unsigned* count) {
  if (module != nvtx_abi::kModuleCore && module != nvtx_abi::kModuleCore2) return 0;
  *table = module == nvtx_abi::kModuleCore ? core_pointers : core2_pointers;
  *count = 16;
  return 1;
}

const void* export_table(std::uint32_t table) {
  static const nvtx_abi::Callbacks callbacks{sizeof(nvtx_abi::Callbacks), module_functions};
  return table == nvtx_abi::kCallbacksTable ? &callbacks : nullptr;
}

template <class Function, class... Arguments>
auto call(nvtx_abi::AnyFunction function, Arguments... arguments) -> decltype(Function()(arguments...)) {
  using Result = decltype(Function()(arguments...));
  if (function == nullptr) return Result();
  return reinterpret_cast<Function>(function)(arguments...);
}

}  // namespace

void FakeDriver::init() {
  using Entry = int (*)();
  const auto entry = reinterpret_cast<Entry>(entry_point("CUDA_INJECTION64_PATH", "InitializeInjection"));
  if (entry != nullptr && entry() != 1) std::exit(98);
  gpu_ = find_fake_cupti();
  if (gpu_.driver_runs != nullptr) gpu_.driver_runs();
}

std::uint64_t FakeDriver::begin_of(std::uint64_t length) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t begin = std::max(free_ + 500, now());
  free_ = begin + length;
  ++works_;
  total_ += length;
  return begin;
}

void FakeDriver::kernel(const std::string& name, std::uint64_t length) {
  const std::uint64_t begin = begin_of(length);
  if (gpu_.launch != nullptr) gpu_.launch(name.c_str(), begin, begin + length, 7);
}

void FakeDriver::copy_to_device(std::uint64_t bytes, std::uint64_t length) {
  const std::uint64_t begin = begin_of(length);
  if (gpu_.copy != nullptr) gpu_.copy(1, bytes, begin, begin + length, 7);
}

void FakeDriver::memory(std::uint64_t address, std::int64_t bytes) const {
  if (gpu_.memory != nullptr) gpu_.memory(address, bytes);
}

FakeNvtx::FakeNvtx() {
  for (std::size_t i = 0; i < 16; ++i) {
    core_pointers[i] = &core_[i];
    core2_pointers[i] = &core2_[i];
  }
  using Entry = int (*)(nvtx_abi::GetExportTable);
  const char* const name = std::getenv("FAKE_NVTX_ENTRY");  // NVTX 2 looks for InitializeInjectionNvtx
  const auto entry = reinterpret_cast<Entry>(
      entry_point("NVTX_INJECTION64_PATH", name == nullptr ? "InitializeInjectionNvtx2" : name));
  if (entry != nullptr && entry(export_table) != 1) std::exit(97);
}

void FakeNvtx::push(const std::string& text) { call<int (*)(const char*)>(core_[nvtx_abi::kRangePushA], text.c_str()); }
void FakeNvtx::pop() { call<int (*)()>(core_[nvtx_abi::kRangePop]); }
void FakeNvtx::push_wide() { call<int (*)(const wchar_t*)>(core_[nvtx_abi::kRangePushW], L"wide"); }
void FakeNvtx::mark(const char* text) { call<void (*)(const char*)>(core_[nvtx_abi::kMarkA], text); }
std::uint64_t FakeNvtx::start(const char* text) {
  return call<std::uint64_t (*)(const char*)>(core_[nvtx_abi::kRangeStartA], text);
}
void FakeNvtx::end(std::uint64_t id) { call<void (*)(std::uint64_t)>(core_[nvtx_abi::kRangeEnd], id); }

const void* FakeNvtx::domain(const char* name) {
  return call<const void* (*)(const char*)>(core2_[nvtx_abi::kDomainCreateA], name);
}
const void* FakeNvtx::registered(const void* domain, const char* text) {
  return call<const void* (*)(const void*, const char*)>(core2_[nvtx_abi::kDomainRegisterStringA], domain, text);
}
void FakeNvtx::push_attributes(const void* domain, std::int32_t type, const void* message) {
  nvtx_abi::EventAttributes attributes{};
  attributes.version = 3;
  attributes.size = sizeof attributes;
  attributes.message_type = type;
  attributes.message = message;
  call<int (*)(const void*, const nvtx_abi::EventAttributes*)>(core2_[nvtx_abi::kDomainRangePushEx], domain,
                                                               &attributes);
}
void FakeNvtx::domain_push(const void* domain, const void* registered_text) {
  push_attributes(domain, nvtx_abi::kMessageRegistered, registered_text);
}
void FakeNvtx::domain_push(const void* domain, const char* text) {
  push_attributes(domain, nvtx_abi::kMessageAscii, text);
}
void FakeNvtx::domain_pop(const void* domain) { call<int (*)(const void*)>(core2_[nvtx_abi::kDomainRangePop], domain); }

}  // namespace debubble::testing
