#include "live/torch/run_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "sim/core/error.hpp"

namespace debubble::live {

namespace {

[[noreturn]] void refuse_run_folder(const std::string& path) {
  const char* reason = strerrordesc_np(errno);
  fail("C051", path, std::string("cannot write here: ") + (reason != nullptr ? reason : "unknown error"),
       "make room, or set TMPDIR to a folder that can be written");
}

}  // namespace

RunFolder::RunFolder() {
  std::error_code error;
  std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) parent = "/tmp";
  const std::string wildcard(6, 'X');  // mkdtemp puts letters of its own there
  std::string name = (parent / ("debubble-torch-" + wildcard)).string();
  if (::mkdtemp(name.data()) == nullptr) refuse_run_folder(parent.string());
  path_ = name;
}

RunFolder::~RunFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

void RunFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream file(path_ / name, std::ios::binary);
  file << text;
  file.flush();
  if (!file) refuse_run_folder((path_ / name).string());
}

std::string RunFolder::read(const std::string& name) const {
  std::ifstream file(path_ / name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace debubble::live
