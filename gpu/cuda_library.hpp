// A shared library of CUDA, found and opened at run time, so that the same binary starts where there is none.
//
// Once open it stays open until the process ends: the driver and the libraries on it keep threads and exit handlers of
// their own, which must not lose their code.
#pragma once

#include <string>
#include <vector>

namespace debubble {

// Where to look. The variable, when it is set, is the path of the library to load, and nothing else is tried.
// Otherwise, for each soname in turn: a copy that is loaded already, the system's own places, then the folders.
struct LibrarySearch {
  std::string variable;              // "DEBUBBLE_CUBLASLT"
  std::vector<std::string> names;    // "libcublasLt.so.13", ...; the best first
  std::vector<std::string> folders;  // see toolkit_folders
};

class CudaLibrary {
 public:
  static CudaLibrary find(const LibrarySearch& search);

  [[nodiscard]] bool is_open() const { return handle_ != nullptr; }
  [[nodiscard]] const std::string& name() const { return name_; }        // as it was opened
  [[nodiscard]] const std::string& problem() const { return problem_; }  // why it is not open, one sentence
  [[nodiscard]] void* symbol(const char* name) const;                    // nullptr: not in this version

  // Sets a pointer of a table of functions. Appends the name to `missing` when the library lacks it.
  template <typename Pointer>
  void take(const char* exported, Pointer& pointer, std::string& missing) const {
    pointer = reinterpret_cast<Pointer>(symbol(exported));  // NOLINT: what dlsym is for
    if (pointer == nullptr) missing += (missing.empty() ? "" : ", ") + std::string(exported);
  }

 private:
  void* handle_ = nullptr;
  std::string name_;
  std::string problem_;
};

// Library folders of CUDA toolkits on this machine: $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, and the packages that pip
// puts into the active Python environment ($VIRTUAL_ENV, $CONDA_PREFIX: nvidia/*/lib). In this order, each once.
[[nodiscard]] std::vector<std::string> toolkit_folders();

}  // namespace debubble
