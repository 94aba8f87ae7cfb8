#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "studies/sweep/space.hpp"

namespace debubble {

namespace {

namespace fs = std::filesystem;

// FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/
class SweepHash {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  // With its length, so that where one text ends and the next begins makes a difference.
  void add_text(std::string_view text) {
    add(std::to_string(text.size()));
    add(":");
    add(text);
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

void add_file(const fs::path& path, SweepHash& hash) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 1 << 16> buffer{};
  while (file.read(buffer.data(), buffer.size()), file.gcount() > 0) {
    hash.add({buffer.data(), static_cast<std::size_t>(file.gcount())});
  }
}

// A file, or a folder's files in the order of their names. What is neither is no file, or one that each row complains
// of.
void add_contents(const std::string& name, SweepHash& hash) {
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

std::uint64_t fingerprint_of(const SweepFlags& flags, const SweepSpace& space, const std::string& version) {
  SweepHash hash;
  hash.add_text(version);
  for (const SweepAxis& axis : space.axes()) {
    const Flag& flag = flags.simulate_rows()[axis.row];
    const bool names_files = type_of(flag).find("FILE") != std::string_view::npos;
    hash.add_text(flag.name);
    hash.add_text(std::to_string(axis.values.size()));
    for (const std::string& value : axis.values) {
      hash.add_text(value);
      if (names_files) add_contents(value, hash);
    }
  }
  return hash.value();
}

}  // namespace debubble
