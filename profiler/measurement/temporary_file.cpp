#include "profiler/measurement/temporary_file.hpp"

#include <stdlib.h>  // NOLINT: mkstemp is POSIX, not in <cstdlib>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "sim/core/error.hpp"

namespace debubble {

TemporaryFile::TemporaryFile(const std::string& given) : path_(given), temporary_(given.empty()) {
  if (!temporary_) return;
  std::error_code failure;
  const std::string wildcard(6, 'X');  // mkstemp puts letters of its own there
  path_ = (std::filesystem::temp_directory_path(failure) / ("debubble-" + wildcard)).string();
  const int descriptor = failure ? -1 : mkstemp(path_.data());
  if (descriptor < 0) {
    throw InputError({"C051", path_, "no temporary file for the records can be made",
                      "set TMPDIR to a folder that can be written, with some hundred MiB free"});
  }
  close(descriptor);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  if (temporary_) std::filesystem::remove(path_, ignored);
}

}  // namespace debubble
