// Where this installation keeps its own files, found from where the running program lies.
//
//     PREFIX/bin/debubble
//     PREFIX/lib/libdebubble_inject.so
//     PREFIX/share/debubble/kernels, python, ...
//
// A build folder is laid out like it; programs in its sub-folders (tests) find the same.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace debubble {

// PREFIX; /usr/local where the system does not say which program runs.
[[nodiscard]] std::filesystem::path install_prefix();

// The first of them that exists. Throws UnavailableError (U040) naming where it looked; `what` begins the message.
[[nodiscard]] std::filesystem::path first_existing(const std::vector<std::filesystem::path>& candidates,
                                                   const std::string& what);

// share/debubble/NAME of the nearest folder above the program that has it. Throws like first_existing.
[[nodiscard]] std::filesystem::path shared_file(const std::filesystem::path& name, const std::string& what);

}  // namespace debubble
