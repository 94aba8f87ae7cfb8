// Stands in for libFuzzer where there is none: feeds every file of the named folders to LLVMFuzzerTestOneInput, in the
// order of their names. A crash or a sanitizer finding ends the program, after the name of the file is on stderr.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;  // a missing folder is an empty one, and that is the caller's error
  for (std::filesystem::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file()) {
      files.push_back(it->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void replay(const std::filesystem::path& file) {
  std::fprintf(stderr, "%s\n", file.c_str());
  std::ifstream stream(file, std::ios::binary);
  // Exactly as long as the file, so that the address sanitizer sees the first byte read past it.
  std::vector<std::uint8_t> input(std::filesystem::file_size(file));
  stream.read(reinterpret_cast<char*>(input.data()), static_cast<std::streamsize>(input.size()));
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> folders(argv + 1, argv + argc);
  std::size_t replayed = 0;
  for (const std::string& folder : folders) {
    for (const std::filesystem::path& file : files_in(folder)) {
      replay(file);
      ++replayed;
    }
  }
  std::printf("%zu inputs replayed\n", replayed);
  return replayed == 0 ? 1 : 0;  // an empty corpus proves nothing
}
