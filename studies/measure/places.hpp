// Where this installation keeps what a measured program needs, found from where the command itself lies.
//
//     PREFIX/bin/debubble
//     PREFIX/lib/libdebubble_inject.so            loaded into the program by the CUDA driver and by NVTX
//     PREFIX/share/debubble/python                put on PYTHONPATH: `python -m debubble_hooks`, debubble_torch
#pragma once

#include <filesystem>

namespace debubble {

// All throw UnavailableError (U040) naming where they looked.
[[nodiscard]] std::filesystem::path injection_library();
[[nodiscard]] std::filesystem::path python_folder();
[[nodiscard]] std::filesystem::path torch_folder();  // the same, looking for debubble_torch

}  // namespace debubble
