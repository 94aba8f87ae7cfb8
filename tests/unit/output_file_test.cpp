#include "formats/files/output_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/test.hpp"
#include "tests/support/trace_promises.hpp"

namespace debubble {
namespace {

namespace fs = std::filesystem;

// A folder of this test's own, gone afterwards.
class Folder {
 public:
  // mkdtemp puts letters of its own in place of six X.
  Folder() {
    std::string name = (fs::temp_directory_path() / ("debubble-output-" + std::string(6, 'X'))).string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(path_), fs::directory_iterator());
  }

 private:
  fs::path path_;
};

std::string contents(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

// "C051 place message | help", or "" when opening, writing and committing all work.
std::string error_of(const std::string& path, const std::string& text = "text") {
  try {
    write_file(path, text);
    return "";
  } catch (const InputError& error) {
    REQUIRE(error.diagnostics().size() == 1);
    const Diagnostic& d = error.diagnostics().front();
    return d.code + " " + d.place + " " + d.message + (d.help.empty() ? "" : " | " + d.help);
  }
}

TEST_CASE("a committed file holds what was written and nothing else stands beside it") {
  const Folder folder;
  OutputFile file(folder.file("a.json"));
  file.write("one ");
  file.write("");
  file.write("two");
  file.commit();
  CHECK(contents(folder.file("a.json")) == "one two");
  CHECK(folder.entries() == 1);
}

TEST_CASE("before commit the old file is untouched, and without commit it stays") {
  const Folder folder;
  write_file(folder.file("a"), "old");
  {
    OutputFile file(folder.file("a"));
    file.write("new");
    CHECK(contents(folder.file("a")) == "old");
    CHECK(folder.entries() == 2);
  }
  CHECK(contents(folder.file("a")) == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a file that was never committed does not come into being") {
  const Folder folder;
  { OutputFile(folder.file("a")).write("text"); }
  CHECK(folder.entries() == 0);
}

TEST_CASE("an existing file is replaced and keeps its mode") {
  const Folder folder;
  write_file(folder.file("a"), "a longer old text");
  fs::permissions(folder.file("a"), fs::perms::owner_read | fs::perms::owner_write);
  write_file(folder.file("a"), "new");
  CHECK(contents(folder.file("a")) == "new");
  CHECK(fs::status(folder.file("a")).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a new file has the mode that the user's umask gives") {
  const Folder folder;
  const mode_t old = ::umask(027);
  write_file(folder.file("a"), "text");
  ::umask(old);
  CHECK((static_cast<unsigned>(fs::status(folder.file("a")).permissions()) & 0777U) == 0640U);
}

TEST_CASE("a symbolic link stays one and the file it means is written") {
  const Folder folder;
  write_file(folder.file("real"), "old");
  fs::create_symlink(folder.file("real"), folder.file("link"));
  write_file(folder.file("link"), "new");
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(contents(folder.file("real")) == "new");
}

TEST_CASE("a moved file commits once") {
  const Folder folder;
  OutputFile first(folder.file("a"));
  first.write("text");
  OutputFile second = std::move(first);
  second.commit();
  CHECK(contents(folder.file("a")) == "text");
  CHECK_THROWS_AS(second.commit(), std::logic_error);
  CHECK_THROWS_AS(second.write("more"), std::logic_error);
}

TEST_CASE("wrong paths are refused at once, with the system's reason") {
  const Folder folder;
  write_file(folder.file("file"), "text");
  CHECK(error_of("") == "C050  the file's name is empty | name the file to write");
  CHECK(error_of(folder.file("")) ==
        "C050 " + folder.file("") + " this is a directory, not a file | name the file to write");
  CHECK(error_of("/") == "C050 / this is a directory, not a file | name the file to write");
  CHECK(
      error_of(folder.file("no/such/folder.json")) ==
      "C051 " + folder.file("no/such/folder.json") +
          " cannot open the file for writing: No such file or directory | the directory does not exist: make it first");
  CHECK(error_of(folder.file("file/below")) ==
        "C051 " + folder.file("file/below") + " cannot open the file for writing: Not a directory");
  CHECK(error_of(folder.file(std::string(300, 'x'))) ==
        "C051 " + folder.file(std::string(300, 'x')) + " cannot open the file for writing: File name too long");
}

TEST_CASE("a folder without write permission is refused") {
  if (::geteuid() == 0) {
    MESSAGE("SKIPPED: root may write everywhere");
    return;
  }
  const Folder folder;
  fs::create_directory(folder.file("closed"));
  fs::permissions(folder.file("closed"), fs::perms::owner_read | fs::perms::owner_exec);
  CHECK(error_of(folder.file("closed/a")) ==
        "C051 " + folder.file("closed/a") +
            " cannot open the file for writing: Permission denied | choose a place "
            "that you may write to");
}

TEST_CASE("a full disk is reported") {
  if (!fs::exists("/dev/full")) {
    MESSAGE("SKIPPED: no /dev/full");
    return;
  }
  CHECK(
      error_of("/dev/full") ==
      "C051 /dev/full cannot write: No space left on device | free some space or choose another place; no partial file "
      "remains");
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("devices are written in place, not replaced") {
  CHECK(error_of("/dev/null") == "");
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("a name that ends in .gz is compressed, to the same bytes each time") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919) + ",";
  write_file(folder.file("a.gz"), text);
  write_file(folder.file("b.gz"), text);
  const std::string packed = contents(folder.file("a.gz"));
  CHECK(packed.substr(0, 8) == std::string("\x1f\x8b\x08\0\0\0\0\0", 8));  // gzip, deflate, no name, time 0
  CHECK(packed == contents(folder.file("b.gz")));
  CHECK(packed.size() < text.size() / 2);
  CHECK(testing::read_plain_or_gzip(folder.file("a.gz")) == text);
}

TEST_CASE("an empty compressed file is a valid one") {
  const Folder folder;
  write_file(folder.file("empty.gz"), "");
  CHECK(contents(folder.file("empty.gz")).size() == 20);
  CHECK(testing::read_plain_or_gzip(folder.file("empty.gz")).empty());
}

TEST_CASE("a dash is standard output") {
  const Folder folder;
  const int saved = ::dup(STDOUT_FILENO);
  const std::string path = folder.file("stdout");
  std::FILE* file = std::fopen(path.c_str(), "w");
  REQUIRE(file != nullptr);
  std::fflush(stdout);
  ::dup2(::fileno(file), STDOUT_FILENO);
  const std::string error = error_of("-", "to stdout");
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  std::fclose(file);
  CHECK(error == "");
  CHECK(contents(path) == "to stdout");
}

}  // namespace
}  // namespace debubble
