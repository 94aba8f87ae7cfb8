// The part of NVRTC's binary interface that we use, in our own words; see cuda_abi.hpp.
#pragma once

#include <cstddef>

namespace debubble::nvrtc {

using Status = int;  // nvrtcResult
using Program = struct ProgramTag*;

inline constexpr Status kSuccess = 0;
inline constexpr Status kCompilation = 6;

// clang-format off
#define DEBUBBLE_NVRTC_FUNCTIONS(X)                                                                                  \
  X(version, nvrtcVersion, Status, (int* major, int* minor))                                                         \
  X(status_text, nvrtcGetErrorString, const char*, (Status status))                                                  \
  X(target_count, nvrtcGetNumSupportedArchs, Status, (int* count))                                                   \
  X(targets, nvrtcGetSupportedArchs, Status, (int* targets))                                                         \
  X(create, nvrtcCreateProgram, Status, (Program* program, const char* source, const char* name, int headers,        \
                                         const char* const* header_texts, const char* const* header_names))          \
  X(destroy, nvrtcDestroyProgram, Status, (Program* program))                                                        \
  X(compile, nvrtcCompileProgram, Status, (Program program, int count, const char* const* options))                  \
  X(log_size, nvrtcGetProgramLogSize, Status, (Program program, std::size_t* bytes))                                 \
  X(log, nvrtcGetProgramLog, Status, (Program program, char* text))                                                  \
  X(cubin_size, nvrtcGetCUBINSize, Status, (Program program, std::size_t* bytes))                                    \
  X(cubin, nvrtcGetCUBIN, Status, (Program program, char* image))                                                    \
  X(ptx_size, nvrtcGetPTXSize, Status, (Program program, std::size_t* bytes))                                        \
  X(ptx, nvrtcGetPTX, Status, (Program program, char* text))
// clang-format on

struct Functions {
#define DEBUBBLE_DECLARE(name, symbol, result, parameters) \
  result(*name) parameters = nullptr;  // NOLINT(bugprone-macro-parentheses)
  DEBUBBLE_NVRTC_FUNCTIONS(DEBUBBLE_DECLARE)
#undef DEBUBBLE_DECLARE
};

}  // namespace debubble::nvrtc
