// Libraries that the command loads when they are needed, so that it starts on machines without what they link to.
//
//     PREFIX/bin/debubble
//     PREFIX/lib/debubble/libdebubble_mpi.so       or what $DEBUBBLE_MPI_PLUGIN names
#pragma once

#include <string>
#include <utility>

namespace debubble {

// Which library, and what is said where there is none.
struct Plugin {
  const char* file;      // "libdebubble_mpi.so"
  const char* variable;  // of the environment: another file
  const char* symbol;    // of its interface
  int mode;              // of dlopen
  const char* code;      // "U052"
  const char* kind;      // "MPI"
  const char* missing;   // "this debubble has no MPI", and what to do
  const char* install;
  const char* unusable;  // "the MPI library cannot be loaded", and what to do
  const char* repair;
};

// Its interface, null where it has none, and its file. Throws UnavailableError where it is missing or cannot be loaded.
[[nodiscard]] std::pair<const void*, std::string> open_plugin(const Plugin& plugin);
[[noreturn]] void refuse_version(const Plugin& plugin, const std::string& path);

template <typename Interface>
[[nodiscard]] const Interface& load_plugin(const Plugin& plugin) {
  const auto [symbol, path] = open_plugin(plugin);
  const auto* const found = static_cast<const Interface*>(symbol);
  if (found == nullptr || found->version != Interface{}.version) refuse_version(plugin, path);
  return *found;
}

}  // namespace debubble
