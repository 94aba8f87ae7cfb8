// What the library shows to the world: entry points of the CUDA driver, of NVTX and of our Python hooks. Nothing may
// leave them but a number.
#include <string_view>

#include "profiler/injection/injection.hpp"
#include "profiler/injection/nvtx_handlers.hpp"

namespace {

// Ranges of our hooks are a domain of their own: a pop too many of the program cannot end them.
const char hooks_domain = 0;

template <class Body>
int guarded(const Body& body) {
  try {
    return body();
  } catch (...) {
    return -1;
  }
}

}  // namespace

extern "C" {

// Called by the CUDA driver inside cuInit when $CUDA_INJECTION64_PATH names this library. 1: loaded.
[[gnu::visibility("default")]] int InitializeInjection() {
  guarded([] {
    if (debubble::Injection* const injection = debubble::begin_injection(true); injection != nullptr) {
      injection->start_gpu();
    }
    return 0;
  });
  return 1;
}

// Called by NVTX once for every shared object that uses it, when $NVTX_INJECTION64_PATH names this library.
[[gnu::visibility("default")]] int InitializeInjectionNvtx2(debubble::nvtx_abi::GetExportTable get_table) {
  return guarded([&] {
    static_cast<void>(debubble::begin_injection(false));
    return debubble::install_nvtx_handlers(get_table) ? 1 : 0;
  });
}

// The same for NVTX 2, whose library libnvToolsExt.so looks for this name and hands over the same export table:
// programs and libraries that were built before NVTX became headers.
[[gnu::visibility("default")]] int InitializeInjectionNvtx(debubble::nvtx_abi::GetExportTable get_table) {
  return InitializeInjectionNvtx2(get_table);
}

// A range of the calling thread opens; the depth it has among ours, from 0, or -1 when nothing is recorded.
[[gnu::visibility("default")]] int debubble_push(const char* text) {
  return guarded([&] {
    debubble::Injection* const injection = debubble::begin_injection(false);
    return injection == nullptr || text == nullptr ? -1 : injection->push(text, &hooks_domain);
  });
}

// The innermost range that debubble_push opened on this thread ends; its depth, or -1 when there is none.
[[gnu::visibility("default")]] int debubble_pop() {
  return guarded([] {
    debubble::Injection* const injection = debubble::active_injection();
    return injection == nullptr ? -1 : injection->pop(&hooks_domain);
  });
}

// A fact for the record file; 0, or -1 when nothing is recorded.
[[gnu::visibility("default")]] int debubble_fact(const char* key, const char* value) {
  return guarded([&] {
    debubble::Injection* const injection = debubble::begin_injection(false);
    if (injection == nullptr || key == nullptr || value == nullptr) return -1;
    injection->fact(key, value);
    return 0;
  });
}

// 0: nothing is recorded. 1: ranges. 2: ranges and GPU work.
[[gnu::visibility("default")]] int debubble_active() {
  return guarded([] {
    const debubble::Injection* const injection = debubble::active_injection();
    return injection == nullptr ? 0 : (injection->has_gpu() ? 2 : 1);
  });
}
}
