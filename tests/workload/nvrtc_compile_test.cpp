// Every kernel through the real NVRTC: no warnings, no spills, and how many registers each takes.
#include <dlfcn.h>

#include <iostream>

#include "gpu/workload/kernels.hpp"
#include "tests/support/test.hpp"
#include "tests/witness/witness.hpp"

namespace debubble {
namespace {

// nvrtc.h's functions, as far as they are used here.
class Nvrtc {
 public:
  explicit Nvrtc(const std::string& path) : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    REQUIRE(library_ != nullptr);
    load(create_, "nvrtcCreateProgram");
    load(compile_, "nvrtcCompileProgram");
    load(log_size_, "nvrtcGetProgramLogSize");
    load(log_, "nvrtcGetProgramLog");
    load(destroy_, "nvrtcDestroyProgram");
  }

  // 0 when it compiled; the log holds what the assembler says of each kernel.
  int compile(const std::string& source, const std::string& architecture, std::string* log) {
    void* program = nullptr;
    REQUIRE(create_(&program, source.c_str(), "kernels.cu", 0, nullptr, nullptr) == 0);
    const std::string target = "--gpu-architecture=" + architecture;
    const std::array<const char*, 3> options{target.c_str(), "--std=c++17", "--ptxas-options=-v"};
    const int result = compile_(program, static_cast<int>(options.size()), options.data());
    std::size_t size = 0;
    REQUIRE(log_size_(program, &size) == 0);
    log->resize(size);
    REQUIRE(log_(program, log->data()) == 0);
    destroy_(&program);
    return result;
  }

 private:
  template <typename Function>
  void load(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
    REQUIRE(static_cast<bool>(function));
  }

  void* library_;  // never closed: NVRTC leaves threads behind
  int (*create_)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile_)(void*, int, const char* const*) = nullptr;
  int (*log_size_)(void*, std::size_t*) = nullptr;
  int (*log_)(void*, char*) = nullptr;
  int (*destroy_)(void**) = nullptr;
};

struct Usage {
  std::size_t kernels = 0;
  std::size_t without_spills = 0;
  int most_registers = 0;
  std::string hungriest;
};

Usage usage_of(const std::string& log) {
  Usage usage;
  std::istringstream lines(log);
  std::string kernel;
  for (std::string line; std::getline(lines, line);) {
    if (const auto at = line.find("Compiling entry function '"); at != std::string::npos) {
      kernel = line.substr(at + 26, line.find('\'', at + 26) - at - 26);
      ++usage.kernels;
    }
    if (contains(line, "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads")) {
      ++usage.without_spills;
    }
    const auto used = line.find("Used ");
    if (used == std::string::npos) continue;
    const int registers = std::stoi(line.substr(used + 5));
    if (registers <= usage.most_registers) continue;
    usage.most_registers = registers;
    usage.hungriest = kernel;
  }
  return usage;
}

void check_usage(const std::string& library, DataType type) {
  Nvrtc nvrtc(library);
  for (const char* architecture : {"sm_80", "sm_90"}) {
    CAPTURE(library);
    CAPTURE(std::string(to_string(type)));
    CAPTURE(architecture);
    std::string log;
    const int result = nvrtc.compile(kernel_source(type), architecture, &log);
    CAPTURE(log);
    REQUIRE(result == 0);
    CHECK_FALSE(contains(log, "warning"));
    const Usage usage = usage_of(log);
    CHECK(usage.kernels == kernel_names().size());
    CHECK(usage.without_spills >= usage.kernels);
    CHECK(usage.most_registers <= 64);  // four blocks of 256 threads to a processor at least
    std::cout << to_string(type) << ' ' << architecture << ": " << usage.kernels << " kernels, at most "
              << usage.most_registers << " registers (" << usage.hungriest << ")\n";
  }
}

TEST_CASE("every kernel compiles for Ampere and Hopper, without warnings and without spills") {
  for (const std::string& library : testing::witnesses("libnvrtc.so.")) {
    for (const DataType type : {DataType::kBf16, DataType::kFp16, DataType::kFp32}) check_usage(library, type);
  }
}

TEST_CASE("a source that is wrong does not compile") {
  for (const std::string& library : testing::witnesses("libnvrtc.so.")) {
    std::string log;
    CHECK(Nvrtc(library).compile("#define DEBUBBLE_BF16 1\n" + kernel_source(DataType::kFp32), "sm_90", &log) != 0);
    CHECK(contains(log, "error"));
  }
}

}  // namespace
}  // namespace debubble
