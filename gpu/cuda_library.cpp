#include "gpu/cuda_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace debubble {
namespace {

namespace fs = std::filesystem;

std::string cuda_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): read before any thread of ours
  return value == nullptr ? "" : value;
}

std::vector<fs::path> children(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// PREFIX/lib/python3.*/site-packages/nvidia/*/lib
void add_python_packages(const std::string& prefix, std::vector<std::string>& folders) {
  for (const fs::path& python : children(fs::path(prefix) / "lib")) {
    if (!python.filename().string().starts_with("python3")) continue;
    for (const fs::path& package : children(python / "site-packages" / "nvidia")) {
      folders.push_back((package / "lib").string());
    }
  }
}

void* open_shared(const std::string& name, int more_flags) { return dlopen(name.c_str(), RTLD_NOW | more_flags); }

// What dlopen says of a file that is there but cannot be loaded; empty when it just is not there.
std::string load_problem(const std::string& name) {
  const char* text = dlerror();
  const std::string problem = text == nullptr ? "" : text;
  const bool absent = problem.starts_with(name) && problem.find("No such file") != std::string::npos;
  return absent ? "" : problem;
}

std::string with_commas(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

CudaLibrary CudaLibrary::find(const LibrarySearch& search) {
  CudaLibrary found;
  const auto try_name = [&found](const std::string& name, int more_flags) {
    found.handle_ = open_shared(name, more_flags);
    if (found.handle_ != nullptr) {
      found.name_ = name;
    } else if (const std::string problem = load_problem(name); found.problem_.empty()) {
      found.problem_ = problem;
    }
    return found.is_open();
  };
  if (const std::string path = cuda_variable(search.variable); !path.empty()) {
    if (!try_name(path, RTLD_LOCAL) && found.problem_.empty()) {
      found.problem_ = search.variable + " names " + path + ", which does not exist";
    }
    return found;
  }
  for (const std::string& name : search.names) {
    if (try_name(name, RTLD_NOLOAD) || try_name(name, RTLD_LOCAL)) return found;
    for (const std::string& folder : search.folders) {
      if (try_name((fs::path(folder) / name).string(), RTLD_LOCAL)) return found;
    }
  }
  if (found.problem_.empty()) found.problem_ = "there is no " + with_commas(search.names);
  return found;
}

void* CudaLibrary::symbol(const char* name) const { return handle_ == nullptr ? nullptr : dlsym(handle_, name); }

std::vector<std::string> toolkit_folders() {
  std::vector<std::string> folders;
  for (const std::string& root :
       {cuda_variable("CUDA_HOME"), cuda_variable("CUDA_PATH"), std::string("/usr/local/cuda")}) {
    if (!root.empty()) folders.insert(folders.end(), {root + "/lib64", root + "/lib"});
  }
  for (const std::string& prefix : {cuda_variable("VIRTUAL_ENV"), cuda_variable("CONDA_PREFIX")}) {
    if (!prefix.empty()) add_python_packages(prefix, folders);
  }
  std::vector<std::string> once;
  for (const std::string& folder : folders) {
    if (std::find(once.begin(), once.end(), folder) == once.end()) once.push_back(folder);
  }
  return once;
}

}  // namespace debubble
