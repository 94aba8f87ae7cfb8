// Where this installation keeps what a measured program needs, found from where the command itself lies.
//
//     PREFIX/bin/debubble
//     PREFIX/lib/libdebubble_inject.so            loaded into the program by the CUDA driver and by NVTX
//     PREFIX/share/debubble/python                put on PYTHONPATH: `python -m debubble_hooks`
#pragma once

#include <filesystem>

namespace debubble {

// Both throw UnavailableError (U040) naming where they looked.
[[nodiscard]] std::filesystem::path injection_library();
[[nodiscard]] std::filesystem::path python_folder();

}  // namespace debubble
