// A file of rows, cut off at every byte, goes on to the same bytes.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "formats/files/row_file.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

RowFileForm form_of(const std::string& header, const std::string& ending) {
  return {header, [](std::int64_t row) { return std::to_string(row) + ",ab,"; }, ending, 12, "sweep"};
}

std::string row_line(std::int64_t row, const std::string& ending) {
  return std::to_string(row) + ",ab," + std::string(static_cast<std::size_t>(row % 4), 'x') + ending + "\n";
}

void write_rest(const std::string& path, const RowFileForm& form, bool resume) {
  RowFile file(path, form, resume);
  for (std::int64_t row = file.rows(); row < form.rows; ++row) file.append(row_line(row, form.ending));
}

std::string refused(const std::string& path, const RowFileForm& form, bool resume) {
  try {
    const RowFile file(path, form, resume);
  } catch (const InputError& error) {
    return error.diagnostics().front().code + " " + error.diagnostics().front().message;
  }
  return "accepted";
}

// From here on every read of this process fails, as on a damaged disk.
bool let_reads_fail() {
  std::array<sock_filter, 4> steps{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 0, 1),
                                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
                                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_CASE_IN_FOLDER("cut off at any byte, a file of rows goes on to what it would have been") {
  for (const auto& [header, ending] : {std::pair{"row,sweep,x\n", ""}, std::pair{"", "}"}}) {
    const RowFileForm form = form_of(header, ending);
    folder.write("whole", "");
    write_rest(folder.path("whole"), form, false);
    const std::string whole = folder.read("whole");
    for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
      folder.write("cut", whole.substr(0, bytes));
      write_rest(folder.path("cut"), form, true);
      CAPTURE(bytes);
      CHECK(folder.read("cut") == whole);
    }
  }
}

TEST_CASE_IN_FOLDER("a file of something else is refused and stays as it is") {
  const RowFileForm form = form_of("row,sweep,x\n", "");
  const Words others{"notes",
                     "row,sweep,y\n",
                     "row,sweep,x\n1,ab,\n",
                     "row,sweep,x\n0,cd,\n",
                     "row,sweep,x\n0,ab,\n0,ab,\n",
                     "row,sweep,x\n0,ab,\n1,cd",
                     "row,sweep,x\n\n",
                     "row,sweep,x\n0,ab,\n" + std::string(3, '\0')};
  for (const std::string& text : others) {
    CAPTURE(text);
    folder.write("f", text);
    CHECK(refused(folder.path("f"), form, true).starts_with("C050"));
    CHECK(folder.read("f") == text);
  }
  folder.write("f", "anything");
  CHECK(refused(folder.path("f"), form, false) == "C050 the file has something in it, and a sweep replaces nothing");
  std::string more = form.header;
  for (std::int64_t row = 0; row <= form.rows; ++row) more += row_line(row, "");
  folder.write("f", more);
  CHECK(refused(folder.path("f"), form, true) == "C050 more rows than this sweep has");
}

TEST_CASE_IN_FOLDER("a file that cannot be read is refused and loses nothing") {
  constexpr int kNoFilter = 77;
  const std::string text = "row,sweep,x\n0,ab,\n1,ab,x\n";
  folder.write("f", text);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (!let_reads_fail()) ::_exit(kNoFilter);
    const std::string answer = refused(folder.path("f"), form_of("row,sweep,x\n", ""), true);
    ::_exit(answer == "C051 cannot read the file: Input/output error" ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoFilter) {
    MESSAGE("SKIPPED: no seccomp filters");
    return;
  }
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(folder.read("f") == text);
}

TEST_CASE_IN_FOLDER("two do not write one file") {
  const RowFile first(folder.path("f"), form_of("", ""), false);
  CHECK(refused(folder.path("f"), form_of("", ""), true) == "C050 another debubble is writing this file");
}

TEST_CASE_IN_FOLDER("places that are no file") {
  CHECK(refused(folder.path(""), form_of("", ""), false).starts_with("C050 this is a directory"));
  CHECK(refused(folder.path("none/f"), form_of("", ""), false).starts_with("C051"));
  CHECK(refused(folder.path("f.csv.gz"), form_of("", ""), false).starts_with("C050"));
  CHECK(refused("/dev/null", form_of("", ""), true).starts_with("C050"));
  CHECK(refused("-", form_of("", ""), true).starts_with("C050"));
  CHECK(refused("/dev/null", form_of("", ""), false) == "accepted");
}

}  // namespace
}  // namespace debubble::testing
