// RunFolder: where debubble and the processes of one run leave files for each other; gone at the end.
#pragma once

#include <filesystem>
#include <string>

namespace debubble::live {

class RunFolder {
 public:
  // In the system's folder for temporary files ($TMPDIR). Throws InputError C051.
  RunFolder();
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Throws InputError C051.
  void write(const std::string& name, const std::string& text) const;
  // Its text; empty where there is no such file.
  [[nodiscard]] std::string read(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

}  // namespace debubble::live
