#include "formats/files/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "formats/files/interrupt.hpp"
#include "formats/files/system_reason.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

std::string hint(int error) {
  switch (error) {
    case ENOENT:
      return "the directory does not exist: make it first";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a place that you may write to";
    case ENOSPC:
    case EDQUOT:
      return "free some space or choose another place; no partial file remains";
    default:
      return "";
  }
}

[[noreturn]] void fail_writing(const char* code, const std::string& path, const std::string& what, int error) {
  throw InputError({code, path, what + ": " + system_reason(error), hint(error)});
}

// Nothing when there is no such file yet.
std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return status;
  if (errno != ENOENT) fail_writing("C051", path, "cannot open the file for writing", errno);
  return std::nullopt;
}

}  // namespace

// The descriptor that is written to, and what becomes of it.
class OutputFile::Target {
 public:
  Target(std::string path, Replaces replaces) : path_(std::move(path)) {
    if (path_ == "-" || path_ == "/dev/stdout") {  // a name of its own would take its place
      claim_.emplace(path_, replaces);
      path_ = "standard output";
      descriptor_ = STDOUT_FILENO;
      return;
    }
    const std::optional<struct stat> existing = status_of(path_);
    if (path_.empty() || path_.back() == '/' || (existing && S_ISDIR(existing->st_mode))) {
      throw InputError({"C050", path_, path_.empty() ? "the file's name is empty" : "this is a directory, not a file",
                        "name the file to write"});
    }
    claim_.emplace(path_, replaces);
    if (existing && !S_ISREG(existing->st_mode)) {
      open_in_place();
    } else {
      open_temporary(existing);
    }
  }
  ~Target() {
    if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  void write(std::string_view bytes) {
    if (descriptor_ < 0) throw std::logic_error("OutputFile: written after commit");
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail_writing("C051", path_, "cannot write", errno);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void commit() {
    const int descriptor = std::exchange(descriptor_, -1);
    if (descriptor < 0) throw std::logic_error("OutputFile: committed twice");
    if (descriptor == STDOUT_FILENO) return;
    if (::close(descriptor) != 0) fail_writing("C051", path_, "cannot write", errno);
    if (!temporary_.empty()) {
      if (::rename(temporary_.c_str(), final_.c_str()) != 0) fail_writing("C051", path_, "cannot write", errno);
      doomed_.reset();
      temporary_.clear();
      for (std::string& loss : losses_) note_replacement(std::move(loss));
    }
    claim_.reset();  // whole, it may be read
  }

 private:
  void open_in_place() {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail_writing("C051", path_, "cannot open the file for writing", errno);
  }

  // Follows a symbolic link to the file it means, keeps an existing file's owner and mode, and respects its write
  // protection.
  void open_temporary(const std::optional<struct stat>& existing) {
    if (existing && ::access(path_.c_str(), W_OK) != 0)
      fail_writing("C051", path_, "cannot open the file for writing", errno);
    final_ = resolved_path(path_);
    static std::atomic<unsigned> number = 0;
    const std::filesystem::path final_path = final_;
    const std::string name = ".debubble-" + std::to_string(::getpid()) + "-" + std::to_string(number++) + ".part";
    const std::string temporary = (final_path.parent_path() / name).string();
    doomed_.emplace(temporary);
    descriptor_ = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail_writing("C051", path_, "cannot open the file for writing", errno);
    temporary_ = temporary;
    if (existing) keep_facts_of(*existing);
  }

  // The owner first, for a change of owner takes bits of the mode away. What cannot be kept is no reason not to write:
  // only root gives files away, and on some network mounts owners and modes mean nothing.
  void keep_facts_of(const struct stat& existing) {
    struct stat made {};
    if (::fstat(descriptor_, &made) != 0) return;
    mode_t mode = existing.st_mode & 07777U;
    const bool same_group = made.st_gid == existing.st_gid || ::fchown(descriptor_, -1U, existing.st_gid) == 0;
    const bool same_owner = made.st_uid == existing.st_uid || ::fchown(descriptor_, existing.st_uid, -1U) == 0;
    if (!same_owner) {
      losses_.push_back(path_ + " belonged to user " + std::to_string(existing.st_uid) + ", and now to user " +
                        std::to_string(made.st_uid));
    }
    if (!same_group) {
      losses_.push_back(path_ + " was of group " + std::to_string(existing.st_gid) + ", and is now of group " +
                        std::to_string(made.st_gid));
    }
    if (!same_owner || !same_group) mode &= 01777U;  // its programs would run as somebody else
    if ((made.st_mode & 07777U) != mode && ::fchmod(descriptor_, mode) != 0) {
      losses_.push_back("the permissions of " + path_ + " could not be kept");
    }
    if (existing.st_nlink > 1) {
      losses_.push_back(path_ + " is a new file; the other names of the former one (hard links) keep the former text");
    }
  }

  std::string path_;       // as given, for messages
  std::string final_;      // where the file ends up
  std::string temporary_;  // empty when written in place, and after commit
  std::optional<DoomedFile> doomed_;
  std::optional<OutputClaim> claim_;
  std::vector<std::string> losses_;  // what replacing the former file could not keep, to be told
  int descriptor_ = -1;
};

// Streams through zlib into a Target. The header has no name and no time.
class OutputFile::Compressor {
 public:
  Compressor() {
    constexpr int kGzip = 15 + 16;  // zlib's window size, with the gzip wrapper
    constexpr int kDefaultMemory = 8;
    // Level 3: a 1F1B trace of 40 MB becomes 9.8 times smaller in 0.24 s; the default level takes 0.64 s for 12.2.
    if (deflateInit2(&stream_, 3, Z_DEFLATED, kGzip, kDefaultMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Compressor() { deflateEnd(&stream_); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  void write(std::string_view text, Target& target) {
    constexpr std::size_t kMost = std::size_t{1} << 30;  // zlib counts in 32 bits
    for (; !text.empty(); text.remove_prefix(std::min(kMost, text.size()))) {
      deflate_all(text.substr(0, kMost), Z_NO_FLUSH, target);
    }
  }
  void finish(Target& target) { deflate_all({}, Z_FINISH, target); }

 private:
  void deflate_all(std::string_view text, int flush, Target& target) {
    std::array<char, std::size_t{1} << 16> buffer{};
    // zlib promises not to write through next_in, whose type is older than const.
    stream_.next_in = const_cast<Bytef*>(  // NOLINT(cppcoreguidelines-pro-type-const-cast)
        reinterpret_cast<const Bytef*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream_.avail_out = static_cast<uInt>(buffer.size());
      deflate(&stream_, flush);
      target.write({buffer.data(), buffer.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
};

OutputFile::OutputFile(std::string path, Replaces replaces) {
  const bool compressed = path.ends_with(".gz");
  target_ = std::make_unique<Target>(std::move(path), replaces);
  if (compressed) compressor_ = std::make_unique<Compressor>();
}

OutputFile::~OutputFile() = default;
OutputFile::OutputFile(OutputFile&& other) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&& other) noexcept = default;

void OutputFile::write(std::string_view text) {
  if (compressor_) {
    compressor_->write(text, *target_);
  } else {
    target_->write(text);
  }
}

void OutputFile::commit() {
  if (compressor_) compressor_->finish(*target_);
  target_->commit();
}

}  // namespace debubble
