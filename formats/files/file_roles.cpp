#include "formats/files/file_roles.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "sim/core/error.hpp"

namespace debubble {
namespace {

// By identity: the name under which it is open.
struct FileRoles {
  std::mutex mutex;
  std::map<std::string, std::string> read;
  std::map<std::string, std::string> written;
  std::vector<std::string> notes;
};

FileRoles& file_roles() {
  static FileRoles roles;
  return roles;
}

std::string identity_of(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return {};
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

// Of a path where a file is or will be; empty for what is no file.
std::string identity_of(const std::string& path) {
  struct stat status {};
  if (path == "-") return ::fstat(STDOUT_FILENO, &status) == 0 ? identity_of(status) : "";
  if (::stat(path.c_str(), &status) == 0) return identity_of(status);
  return resolved_path(path);
}

std::string quoted_name(const std::string& path) { return path == "-" ? "standard output" : path; }

[[noreturn]] void refuse_to_replace(const std::string& input, const std::string& output, const std::string& place) {
  const std::string both = input == output ? "" : ", which is the file " + input;
  throw InputError(Diagnostic{"C066", place,
                              "the result would take the place of what it is made from: " + quoted_name(output) + both,
                              "give the result a file of its own"});
}

void claim_read(const struct stat& status, const std::string& name, const std::string& place) {
  const std::string file = identity_of(status);
  if (file.empty()) return;
  FileRoles& roles = file_roles();
  const std::lock_guard lock(roles.mutex);
  if (const auto output = roles.written.find(file); output != roles.written.end()) {
    refuse_to_replace(name, output->second, place);
  }
  roles.read.emplace(file, name);
}

}  // namespace

std::string resolved_path(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path whole = fs::absolute(path, error);
  constexpr int kMostLinks = 40;  // as the kernel has it
  for (int link = 0; link < kMostLinks && fs::is_symlink(fs::symlink_status(whole, error)); ++link) {
    const fs::path target = fs::read_symlink(whole, error);
    if (error) break;
    whole = whole.parent_path() / target;  // an absolute target stands alone
  }
  whole = fs::weakly_canonical(whole, error);
  return error ? path : whole.string();
}

void claim_input(int descriptor, const std::string& name, const std::string& place) {
  struct stat status {};
  if (::fstat(descriptor, &status) == 0) claim_read(status, name, place);
}

void claim_input_path(const std::string& path, const std::string& place) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) claim_read(status, path, place);
}

OutputClaim::OutputClaim(const std::string& path, Replaces replaces) : file_(identity_of(path)) {
  if (file_.empty()) return;
  FileRoles& roles = file_roles();
  const std::lock_guard lock(roles.mutex);
  const auto input = roles.read.find(file_);
  if (input != roles.read.end() && replaces == Replaces::kNothingRead) refuse_to_replace(input->second, path, path);
  const auto [other, is_new] = roles.written.emplace(file_, path);
  if (is_new) return;
  file_.clear();
  if (path == "-" && other->second == "-") return;  // pieces of one text
  throw InputError(Diagnostic{"C066", path,
                              "two results for one file: " + quoted_name(other->second) + " and " + quoted_name(path),
                              "give each its own file"});
}

OutputClaim::~OutputClaim() {
  if (file_.empty()) return;
  FileRoles& roles = file_roles();
  const std::lock_guard lock(roles.mutex);
  roles.written.erase(file_);
}

void note_replacement(std::string note) {
  FileRoles& roles = file_roles();
  const std::lock_guard lock(roles.mutex);
  roles.notes.push_back(std::move(note));
}

std::vector<std::string> take_replacement_notes() {
  FileRoles& roles = file_roles();
  const std::lock_guard lock(roles.mutex);
  return std::exchange(roles.notes, {});
}

}  // namespace debubble
