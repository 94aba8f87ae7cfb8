// Where this installation keeps what a measured program needs, found from where the command itself lies.
//
//     PREFIX/bin/debubble
//     PREFIX/lib/debubble/libdebubble_inject.so   loaded into the program by the CUDA driver and by NVTX
//     PREFIX/share/debubble/python                put on PYTHONPATH: `python -m debubble_hooks`, debubble_torch
#pragma once

#include <filesystem>
#include <string>

namespace debubble {

// All throw UnavailableError (U040) naming where they looked.
[[nodiscard]] std::filesystem::path injection_library();
// The folder that holds this Python package: debubble_hooks, debubble_torch.
[[nodiscard]] std::filesystem::path package_folder(const std::string& name);

}  // namespace debubble
