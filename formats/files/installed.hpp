// Where this installation keeps its own files, found from where the running program lies.
//
//     PREFIX/bin/debubble
//     PREFIX/lib/debubble/libdebubble_inject.so
//     PREFIX/share/debubble/kernels, python, traces
//
// Nothing depends on where PREFIX is: an unpacked archive may lie anywhere, and be moved. A build folder is laid out
// like it; programs in its sub-folders (tests) find the same.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace debubble {

// PREFIX; /usr/local where the system does not say which program runs.
[[nodiscard]] std::filesystem::path install_prefix();

// For a library that other programs load (the Python module): PREFIX is the folder that holds its lib and share,
// wherever the running program lies. Called once, before anything is looked for.
void set_install_prefix(std::filesystem::path prefix);

// The first of them that exists. Throws UnavailableError (U040) naming where it looked; `what` begins the message.
[[nodiscard]] std::filesystem::path first_existing(const std::vector<std::filesystem::path>& candidates,
                                                   const std::string& what);

// share/debubble/NAME of the nearest folder above the program that has it. Throws like first_existing.
[[nodiscard]] std::filesystem::path shared_file(const std::filesystem::path& name, const std::string& what);

// One of our shared libraries, of an installation or of a build folder. Throws like first_existing.
[[nodiscard]] std::filesystem::path own_library(const std::string& file, const std::string& what);

// Where to read `path`: there; but of what is not there and begins with "traces/", the published profiles, records and
// measured runs that debubble brings with it, in share/debubble/traces. So what the documents call
// traces/published/zb-a100-1.5b-m24.json is found from any folder, and a file of that name in the current one comes
// first.
[[nodiscard]] std::string path_or_shipped(const std::string& path);

}  // namespace debubble
