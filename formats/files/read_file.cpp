#include "formats/files/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <optional>
#include <string_view>

#include "formats/files/file_roles.hpp"
#include "formats/files/installed.hpp"
#include "formats/files/plain_text.hpp"
#include "formats/files/system_reason.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

// `-` is standard input.
int descriptor_of(const std::string& path) {
  return path == "-" ? ::dup(STDIN_FILENO) : ::open(path_or_shipped(path).c_str(), O_RDONLY | O_CLOEXEC);
}

class InputFile {
 public:
  InputFile(const std::string& path, const std::string& place)
      : path_(path), place_(place), descriptor_(descriptor_of(path)) {
    if (descriptor_ < 0) refuse(system_reason(errno), "check the path and its permissions");
  }
  ~InputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Calls `take` for piece after piece.
  void read(std::size_t most, const std::function<void(std::string_view)>& take) const {
    look(most);
    std::array<char, 1 << 16> block{};
    for (;;) {
      const ssize_t got = ::read(descriptor_, block.data(), block.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) refuse(system_reason(errno), "check the path and its permissions");
      if (got == 0) return;
      take({block.data(), static_cast<std::size_t>(got)});
    }
  }

 private:
  void look(std::size_t most) const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) refuse(system_reason(errno), "check the path and its permissions");
    const bool is_null = S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
    const bool is_device = S_ISCHR(status.st_mode) && !is_null && ::isatty(descriptor_) == 0;
    if (is_device || S_ISBLK(status.st_mode)) refuse("it is a device, not a file", "name a file");
    claim_input(descriptor_, path_, place_);
    if (S_ISREG(status.st_mode) && static_cast<std::size_t>(status.st_size) > most) refuse_length(path_, most);
  }

  [[noreturn]] void refuse(const std::string& reason, const char* help) const {
    throw InputError(Diagnostic{"C005", place_, "cannot read " + path_ + ": " + reason, help});
  }

  const std::string& path_;
  const std::string& place_;
  int descriptor_;
};

// Standard input is there once: who asks again gets the same.
const std::string& standard_input(const std::string& place, std::size_t most) {
  static const std::string bytes = [&] {
    const std::string path = "-";
    std::string all;
    InputFile(path, place).read(most, [&](std::string_view piece) {
      if (piece.size() > most - all.size()) refuse_length(path, most);
      append_text(piece, path, all);
    });
    return all;
  }();
  return bytes;
}

void read_pieces(const std::string& path, const std::string& place, std::size_t most,
                 const std::function<void(std::string_view)>& take) {
  if (path == "-") {
    take(standard_input(place, most));
  } else {
    InputFile(path, place).read(most, take);
  }
}

}  // namespace

std::string read_file(const std::string& path, const std::string& place, std::size_t most) {
  std::string bytes;
  read_pieces(path, place, most, [&](std::string_view piece) {
    if (piece.size() > most - bytes.size()) refuse_length(path, most);
    append_text(piece, path, bytes);
  });
  return bytes;
}

std::string read_text_file(const std::string& path, const std::string& place, std::size_t most) {
  std::string text;
  std::optional<TextInflater> inflater;
  read_pieces(path, place, most, [&](std::string_view piece) {
    // Two bytes tell: a pipe may give the first one alone.
    if (!inflater && text.size() < 2) {
      text += piece;
      if (!text.starts_with("\x1f\x8b")) return;
      inflater.emplace(path, most);
      inflater->add(text);
    } else if (inflater) {
      inflater->add(piece);
    } else {
      if (piece.size() > most - text.size()) refuse_length(path, most);
      append_text(piece, path, text);
    }
  });
  return inflater ? inflater->finish() : text;
}

}  // namespace debubble
