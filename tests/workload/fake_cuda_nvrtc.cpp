// The fake libnvrtc: what it "compiles" a source to is that source. See fake_cuda.hpp.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "gpu/nvrtc_abi.hpp"
#include "tests/workload/fake_cuda_gpu.hpp"

using debubble::testing::FakeGpu;
namespace nvrtc = debubble::nvrtc;

namespace {

struct Compilation {
  std::string source;
  std::string log;
};

Compilation& compilation(nvrtc::Program program) { return *reinterpret_cast<Compilation*>(program); }

constexpr std::array<int, 4> kTargets{75, 80, 90, 100};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int nvrtcVersion(int* major, int* minor) {
  const auto version = static_cast<int>(FakeGpu::number("libraries", 13000));
  *major = version / 1000;
  *minor = version % 1000 / 10;
  return 0;
}

const char* nvrtcGetErrorString(int status) { return status == nvrtc::kCompilation ? "NVRTC_ERROR_COMPILATION" : "?"; }

int nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(kTargets.size());
  return 0;
}

int nvrtcGetSupportedArchs(int* targets) {
  std::copy(kTargets.begin(), kTargets.end(), targets);
  return 0;
}

int nvrtcCreateProgram(nvrtc::Program* program, const char* source, const char*, int, const char* const*,
                       const char* const*) {
  ++FakeGpu::one().live_objects;
  *program = reinterpret_cast<nvrtc::Program>(new Compilation{source, ""});
  return 0;
}

int nvrtcDestroyProgram(nvrtc::Program* program) {
  --FakeGpu::one().live_objects;
  delete &compilation(*program);
  *program = nullptr;
  return 0;
}

int nvrtcCompileProgram(nvrtc::Program program, int, const char* const*) {
  if (!FakeGpu::has("compile_error")) return 0;
  compilation(program).log = "line 1: error: the fake compiler refuses everything";
  return nvrtc::kCompilation;
}

int nvrtcGetProgramLogSize(nvrtc::Program program, std::size_t* bytes) {
  *bytes = compilation(program).log.size() + 1;
  return 0;
}

int nvrtcGetProgramLog(nvrtc::Program program, char* text) {
  std::memcpy(text, compilation(program).log.c_str(), compilation(program).log.size() + 1);
  return 0;
}

int nvrtcGetCUBINSize(nvrtc::Program program, std::size_t* bytes) {
  *bytes = compilation(program).source.size() + 1;
  return 0;
}

int nvrtcGetCUBIN(nvrtc::Program program, char* image) {
  std::memcpy(image, compilation(program).source.c_str(), compilation(program).source.size() + 1);
  return 0;
}

int nvrtcGetPTXSize(nvrtc::Program program, std::size_t* bytes) { return nvrtcGetCUBINSize(program, bytes); }
int nvrtcGetPTX(nvrtc::Program program, char* text) { return nvrtcGetCUBIN(program, text); }

}  // extern "C"
#pragma GCC visibility pop
