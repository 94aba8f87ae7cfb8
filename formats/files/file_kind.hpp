// What a file is, by its first bytes: of a file that was given where another kind is read, the error says which.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace debubble {

struct FileKind {
  std::string_view what;  // "a profile of layer times"
  // Where such a file is given: "--profile", "diff", "import --from kineto". The first is what a person is told; empty:
  // nothing reads it.
  std::vector<std::string_view> takers;
};

// Null for what is no regular file, cannot be read, or is not known. Gzip is looked into.
[[nodiscard]] const FileKind* kind_of_file(const std::string& path);

// Whether this is where files are given, whatever their kind: "--profile".
[[nodiscard]] bool takes_files(std::string_view flag);

}  // namespace debubble
