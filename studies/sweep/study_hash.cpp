#include "studies/sweep/study_hash.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "formats/files/installed.hpp"
#include "formats/files/read_file.hpp"

namespace debubble {
namespace {

namespace fs = std::filesystem;

// As much of it as any reader of a sweep takes.
void add_file(const fs::path& path, StudyHash& hash) {
  std::size_t left = kMostTableBytes;
  std::ifstream file(path, std::ios::binary);
  std::array<char, 1 << 16> buffer{};
  while (left > 0 && (file.read(buffer.data(), buffer.size()), file.gcount() > 0)) {
    const std::size_t got = std::min(left, static_cast<std::size_t>(file.gcount()));
    hash.add({buffer.data(), got});
    left -= got;
  }
}

void add_contents(const std::string& value, StudyHash& hash) {
  const std::string name = path_or_shipped(value);
  std::error_code error;
  if (fs::is_regular_file(name, error)) return add_file(name, hash);
  if (!fs::is_directory(name, error)) return;
  std::vector<fs::path> files;
  for (fs::directory_iterator it(name, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file(error)) files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    hash.add_text(file.filename().string());
    add_file(file, hash);
  }
}

}  // namespace

void add_value(const Flag& flag, const std::string& value, StudyHash& hash) {
  hash.add_text(value);
  if (type_of(flag).find("FILE") != std::string_view::npos) add_contents(value, hash);
}

}  // namespace debubble
