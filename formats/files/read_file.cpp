#include "formats/files/read_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "formats/files/installed.hpp"
#include "formats/files/system_reason.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

// All of standard input, which is there once: who asks again gets the same.
const std::string& standard_input(const std::string& place) {
  static const std::string text = [&] {
    std::string all;
    std::array<char, 1 << 16> block{};
    while (const std::size_t count = std::fread(block.data(), 1, block.size(), stdin)) all.append(block.data(), count);
    if (std::ferror(stdin) != 0) {
      throw InputError(Diagnostic{"C005", place, std::string("cannot read standard input: ") + system_reason(errno),
                                  "give a file instead of -"});
    }
    return all;
  }();
  return text;
}

}  // namespace

std::string read_file(const std::string& path, const std::string& place) {
  if (path == "-") return standard_input(place);
  const auto close = [](std::FILE* file) { std::fclose(file); };  // NOLINT(cppcoreguidelines-owning-memory): it owns
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path_or_shipped(path).c_str(), "rb"), close);
  const auto refuse = [&] {
    throw InputError(Diagnostic{"C005", place, "cannot read " + path + ": " + system_reason(errno),
                                "check the path and its permissions"});
  };
  if (file == nullptr) refuse();
  std::string text;
  std::array<char, 1 << 16> block{};
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block.data(), count);
  }
  if (std::ferror(file.get()) != 0) refuse();
  return text;
}

}  // namespace debubble
