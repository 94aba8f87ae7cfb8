#include "formats/files/row_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "formats/files/system_reason.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

[[noreturn]] void fail_row_file(const std::string& path, const std::string& what, int error) {
  throw InputError({"C051", path, what + ": " + system_reason(error),
                    error == ENOSPC ? "free some space and go on with --resume" : ""});
}

// Reads lines one after the other and remembers where the last whole one ended.
class LineReader {
 public:
  explicit LineReader(int descriptor) : descriptor_(descriptor) {}

  // The next line without its end; false at the end of the file or where it cannot be read, `line` is then what follows
  // the last line end.
  bool next(std::string& line) {
    line.clear();
    for (;;) {
      const std::string_view rest = std::string_view(buffer_.data(), filled_).substr(at_);
      const std::size_t end = rest.find('\n');
      if (end != std::string_view::npos) {
        line += rest.substr(0, end);
        at_ += end + 1;
        whole_ += static_cast<off_t>(line.size()) + 1;
        return true;
      }
      line += rest;
      if (!fill()) return false;
    }
  }
  [[nodiscard]] off_t whole() const { return whole_; }
  // Why the file could not be read to its end, as errno says it; 0 where it was.
  [[nodiscard]] int error() const { return error_; }

 private:
  bool fill() {
    ssize_t got = 0;
    do {
      got = ::read(descriptor_, buffer_.data(), buffer_.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) error_ = errno;
    at_ = 0;
    filled_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    return filled_ > 0;
  }

  int descriptor_;
  std::array<char, 1 << 16> buffer_{};
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  off_t whole_ = 0;
  int error_ = 0;
};

bool is_begun(std::string_view torn, std::string_view whole) {
  return torn.size() < whole.size() ? whole.starts_with(torn) : torn.starts_with(whole);
}

}  // namespace

RowFile::RowFile(std::string path, const RowFileForm& form, bool resume) : path_(std::move(path)) {
  struct stat status {};
  const bool exists = path_ != "-" && ::stat(path_.c_str(), &status) == 0;
  const bool regular = path_ != "-" && (!exists || S_ISREG(status.st_mode));
  if (exists && S_ISDIR(status.st_mode)) {
    throw InputError({"C050", path_, "this is a directory, not a file", "name the file to write"});
  }
  if (resume && !regular) {
    throw InputError({"C050", "--resume", (path_ == "-" ? "standard output" : path_) + " cannot be gone on with",
                      "name a file: -o rows.csv --resume"});
  }
  claim_.emplace(path_, Replaces::kNothingRead);
  if (regular) {
    open_regular(form, resume);
  } else if (path_ == "-") {
    path_ = "standard output";
    file_.number = STDOUT_FILENO;
  } else {
    file_.number = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_.number < 0) fail_row_file(path_, "cannot open the file for writing", errno);
  }
  if (!has_header_ && !form.header.empty()) append(form.header);
}

RowFile::Descriptor::~Descriptor() {
  if (number >= 0 && number != STDOUT_FILENO) ::close(number);
}

void RowFile::open_regular(const RowFileForm& form, bool resume) {
  if (path_.ends_with(".gz")) {
    throw InputError({"C050", path_, "rows are appended one by one, and a compressed file cannot be gone on with",
                      "write it plain, and compress it when it is whole"});
  }
  file_.number = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_.number < 0) fail_row_file(path_, "cannot open the file for writing", errno);
  if (::flock(file_.number, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw InputError({"C050", path_, "another debubble is writing this file", "wait for it, or name another file"});
  }
  struct stat status {};
  if (::fstat(file_.number, &status) != 0) fail_row_file(path_, "cannot read the file", errno);
  if (status.st_size == 0) return;
  if (!resume) {
    throw InputError({"C050", path_, "the file has something in it, and a " + form.what + " replaces nothing",
                      "add --resume to go on with it, name another file, or remove it"});
  }
  take_over(form);
}

// The file must be the beginning of these rows; a torn line at its end is cut off.
void RowFile::take_over(const RowFileForm& form) {
  const auto refuse = [&](std::int64_t line, const std::string& what) {
    throw InputError({"C050", path_ + ":" + std::to_string(line), what,
                      "name the file of this " + form.what + ", or another one to begin anew"});
  };
  LineReader lines(file_.number);
  std::string line;
  std::int64_t number = 1;
  const auto next = [&] {
    const bool whole = lines.next(line);
    // Rows that cannot be read are not rows that are missing: nothing may be cut off.
    if (lines.error() != 0) fail_row_file(path_, "cannot read the file", lines.error());
    return whole;
  };
  bool whole = next();
  if (!form.header.empty()) {
    const std::string_view header = std::string_view(form.header).substr(0, form.header.size() - 1);
    const bool right = whole ? line == header : header.starts_with(line);
    if (!right) refuse(number, "the first line is not that of this " + form.what);
    has_header_ = whole;
    if (whole) {
      whole = next();
      ++number;
    }
  }
  for (; whole; whole = next(), ++number) {
    if (rows_ == form.rows) refuse(number, "more rows than this " + form.what + " has");
    if (!line.starts_with(form.prefix(rows_)) || !line.ends_with(form.ending)) {
      refuse(number, "this is not row " + std::to_string(rows_) + " of this " + form.what);
    }
    ++rows_;
  }
  const bool in_header = !form.header.empty() && !has_header_;
  if (!line.empty() && !in_header && (rows_ == form.rows || !is_begun(line, form.prefix(rows_)))) {
    refuse(number, "this is not row " + std::to_string(rows_) + " of this " + form.what);
  }
  if (::ftruncate(file_.number, lines.whole()) != 0) fail_row_file(path_, "cannot write", errno);
  if (::lseek(file_.number, lines.whole(), SEEK_SET) < 0) fail_row_file(path_, "cannot write", errno);
}

void RowFile::append(std::string_view lines) {
  while (!lines.empty()) {
    const ssize_t written = ::write(file_.number, lines.data(), lines.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_row_file(path_, "cannot write", errno);
    lines.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace debubble
