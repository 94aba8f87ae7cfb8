// FakeMachine: a machine with the fake GPU, for the length of a test: sets the variables that name the fake libraries.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tests/workload/fake_cuda.hpp"
#include "tests/workload/fake_drivers.hpp"

namespace debubble::testing {

// Environment variables, put back at the end.
class Variables {
 public:
  Variables(std::initializer_list<std::pair<const char*, std::string>> values) {
    for (const auto& [name, value] : values) {
      const char* const before = std::getenv(name);
      before_[name] = before == nullptr ? std::nullopt : std::optional<std::string>(before);
      setenv(name, value.c_str(), 1);
    }
  }
  ~Variables() {
    for (const auto& [name, value] : before_) {
      if (value) {
        setenv(name.c_str(), value->c_str(), 1);
      } else {
        unsetenv(name.c_str());
      }
    }
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

class FakeMachine {
 public:
  // `behaviour` is $FAKE_CUDA. FAKE_CUDA_LIBRARY and FAKE_CUPTI_LIBRARY are paths, from CMake.
  explicit FakeMachine(const std::string& behaviour = "") : FakeMachine(behaviour, FAKE_CUDA_LIBRARY) {}
  // With this driver, and libraries that go with it.
  FakeMachine(const FakeDriver& driver, const std::string& behaviour)
      : FakeMachine("driver=" + std::to_string(driver.version) + ",libraries=" + std::to_string(driver.version) + "," +
                        behaviour,
                    beside_fake_cuda(driver.file)) {}
  FakeMachine(const std::string& behaviour, const std::string& driver_library)
      : variables_{{"DEBUBBLE_LIBCUDA", driver_library},
                   {"DEBUBBLE_CUBLASLT", FAKE_CUDA_LIBRARY},
                   {"DEBUBBLE_NVRTC", FAKE_CUDA_LIBRARY},
                   {"DEBUBBLE_CUPTI", FAKE_CUPTI_LIBRARY},
                   {"FAKE_CUDA", behaviour}} {}

  // What is taken and not given back; 0 before anything was loaded.
  [[nodiscard]] static std::int64_t live_objects() { return ask("fake_cuda_live_objects"); }
  [[nodiscard]] static std::int64_t live_bytes() { return ask("fake_cuda_live_bytes"); }

 private:
  static std::string beside_fake_cuda(std::string_view file) {
    const std::string path = FAKE_CUDA_LIBRARY;
    return path.substr(0, path.rfind('/') + 1) + std::string(file);
  }

  static std::int64_t ask(const char* what) {
    void* const library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW);
    return reinterpret_cast<FakeCudaLive*>(dlsym(library, what))();
  }

  Variables variables_;
};

}  // namespace debubble::testing
