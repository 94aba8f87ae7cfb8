// A program with NVIDIA's own NVTX headers, in two shared objects and several threads. NVTX keeps its state per shared
// object, so the injection library is initialised by each; one stack per thread must come out of it all the same.
//
//     nvtx_program LIBRARY     LIBRARY: nvtx_plugin, loaded after this program has made its first NVTX call
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <thread>
#include <vector>

namespace {

using Inside = void (*)();

void step(Inside plugin, int thread) {
  nvtxRangePushA(thread == 0 ? "program, main thread" : "program, other thread");
  plugin();
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "with attributes";
  nvtxRangePushEx(&attributes);
  nvtxMarkA("mark");
  nvtxRangeEnd(nvtxRangeStartA("across threads"));
  nvtxRangePop();
  nvtxRangePushW(L"wide");
  nvtxRangePop();
  nvtxRangePop();
}

}  // namespace

int main(int count, char** words) {
  nvtxRangePushA("before the plugin");
  nvtxRangePop();
  void* const library = count > 1 ? dlopen(words[1], RTLD_NOW) : nullptr;
  const auto plugin = library == nullptr ? nullptr : reinterpret_cast<Inside>(dlsym(library, "inside_plugin"));
  if (plugin == nullptr) {
    std::fprintf(stderr, "nvtx_program: no plugin\n");
    return 1;
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) step(plugin, t);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}
