// Nvrtc: the run-time compiler of CUDA C++, loaded at run time ($DEBUBBLE_NVRTC: path of the library to load).
#pragma once

#include <string>
#include <vector>

#include "gpu/nvrtc_abi.hpp"

namespace debubble {

struct Nvrtc {
  nvrtc::Functions call;
  std::string library;  // as it was opened
  int version = 0;      // 13000 is 13.0
};

// Throws UnavailableError U023 where there is none, U025 where the driver is older.
[[nodiscard]] Nvrtc load_nvrtc(int driver_version);

// Machine code for GPUs of this compute capability (90 is 9.0), or, for a GPU newer than the compiler, PTX of the
// newest it knows, which the driver translates. Ready for cuModuleLoadData. Throws UnavailableError U023 for a GPU the
// compiler no longer knows, U027 with the compiler's log when the source does not compile.
[[nodiscard]] std::string compile_for(const Nvrtc& nvrtc, const std::string& source, const std::string& name,
                                      int capability, const std::vector<std::string>& more_options = {});

}  // namespace debubble
