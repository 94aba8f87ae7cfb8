// Where Python environments and toolkits keep their libcupti.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "profiler/cupti/library_search.hpp"

namespace debubble {

namespace {

namespace fs = std::filesystem;

std::string environment_value(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<fs::path> sorted_children(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

class Folders {
 public:
  void add(const fs::path& folder) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) return;
    if (std::find(found_.begin(), found_.end(), folder.string()) == found_.end()) found_.push_back(folder.string());
  }

  // NVIDIA's packages install into nvidia/cuda_cupti/lib (CUDA 11 and 12) or nvidia/cu13/lib (CUDA 13), as the RECORD
  // files of nvidia-cuda-cupti-cu12 and nvidia-cuda-cupti say.
  void add_packages(const fs::path& site) {
    for (const fs::path& package : sorted_children(site / "nvidia")) add(package / "lib");
  }

  // A virtual environment, conda's, the user's or the system's: PREFIX/lib/python3.11/site-packages; Debian has
  // dist-packages. Conda's own package of CUPTI is in PREFIX/lib.
  void add_prefix(const fs::path& prefix) {
    for (const char* const lib : {"lib", "lib64", "local/lib"}) {
      for (const fs::path& python : sorted_children(prefix / lib)) {
        if (!python.filename().string().starts_with("python3")) continue;
        for (const char* const site : {"site-packages", "dist-packages"}) add_packages(python / site);
      }
    }
  }

  [[nodiscard]] std::vector<std::string> take() { return std::move(found_); }

 private:
  std::vector<std::string> found_;
};

// A framework that is loaded knows best which environment runs: .../site-packages/torch/lib/libtorch_cpu.so.
void add_sites_of_loaded(Folders& folders) {
  for (const std::string& path : loaded_objects()) {
    for (const std::string_view site : {"/site-packages/", "/dist-packages/"}) {
      const std::size_t at = path.rfind(site);
      if (at != std::string::npos) folders.add_packages(path.substr(0, at + site.size() - 1));
    }
  }
}

// PREFIX of PREFIX/bin/python3, for each in PATH: an environment that is used by its path is not in $VIRTUAL_ENV.
void add_pythons_of_path(Folders& folders) {
  const std::string path = environment_value("PATH");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const fs::path bin = path.substr(begin, end - begin);
    begin = end + 1;
    std::error_code ignored;
    if (!bin.is_absolute() || !fs::exists(bin / "python3", ignored)) continue;
    folders.add_prefix(bin.parent_path());
  }
}

}  // namespace

std::vector<std::string> cupti_folders() {
  Folders folders;
  add_sites_of_loaded(folders);
  if (const std::string prefix = environment_value("VIRTUAL_ENV"); !prefix.empty()) folders.add_prefix(prefix);
  if (const std::string prefix = environment_value("CONDA_PREFIX"); !prefix.empty()) {
    folders.add(fs::path(prefix) / "lib");
    folders.add_prefix(prefix);
  }
  add_pythons_of_path(folders);
  if (const std::string home = environment_value("HOME"); !home.empty()) folders.add_prefix(fs::path(home) / ".local");
  folders.add_prefix("/usr");
  for (const std::string& root :
       {environment_value("CUDA_HOME"), environment_value("CUDA_PATH"), std::string("/usr/local/cuda")}) {
    if (root.empty()) continue;
    for (const char* const folder : {"extras/CUPTI/lib64", "lib64", "lib"}) folders.add(fs::path(root) / folder);
  }
  return folders.take();
}

}  // namespace debubble
