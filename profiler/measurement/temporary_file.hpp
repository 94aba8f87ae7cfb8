// TemporaryFile: the name of a record file; removed at the end unless the user gave it.
#pragma once

#include <string>

namespace debubble {

class TemporaryFile {
 public:
  // Empty: a new, empty file in the system's folder for temporary files ($TMPDIR). Throws InputError C051 when none
  // can be made.
  explicit TemporaryFile(const std::string& given);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool temporary_;
};

}  // namespace debubble
