// What an interrupted run leaves behind: nothing. And what a user without rights is told.
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

namespace fs = std::filesystem;

// Whether a file in the making has grown beyond `bytes`.
bool is_writing(const Folder& folder, std::uintmax_t bytes) {
  std::error_code gone;  // it may vanish while we look
  for (const auto& entry : fs::directory_iterator(folder.path(""))) {
    if (entry.path().extension() == ".part" && entry.file_size(gone) > bytes && !gone) return true;
  }
  return false;
}

Outcome interrupted(const Folder& folder, int signal, std::uintmax_t bytes, const Words& arguments) {
  Surroundings surroundings;
  surroundings.signal = signal;
  surroundings.signal_when = [&folder, bytes] { return is_writing(folder, bytes); };
  return folder.run(arguments, surroundings);
}

TEST_CASE_IN_FOLDER("a run interrupted while it writes its trace leaves no file and ends with 130") {
  const Outcome outcome = interrupted(folder, SIGINT, 100'000, "simulate -p 32 -m 2000 --trace t.json -o o.txt");
  CHECK(outcome.status == 130);
  CHECK(outcome.out.empty());
  CHECK(folder.files().empty());
}

TEST_CASE_IN_FOLDER("a run killed while it writes keeps the old file as it was") {
  folder.write("t.json.gz", "old");
  const Outcome outcome = interrupted(folder, SIGTERM, 10'000, "export --to chrome-trace -p 32 -m 2000 -o t.json.gz");
  CHECK(outcome.status == 143);
  CHECK(folder.files() == "t.json.gz");
  CHECK(folder.read("t.json.gz") == "old");
}

TEST_CASE_IN_FOLDER("a run whose terminal goes away before it has written anything leaves nothing") {
  Surroundings surroundings;
  surroundings.signal = SIGHUP;
  surroundings.signal_when = [&] { return !folder.files().empty(); };
  const Outcome outcome = folder.run("simulate -p 32 -m 2000 --trace t.json --export-schedule s.csv", surroundings);
  CHECK(outcome.status == 129);
  CHECK(folder.files().empty());
}

TEST_CASE_IN_FOLDER("a file that may not be read is refused") {
  if (::geteuid() == 0) {
    MESSAGE("SKIPPED: root may read everything");
    return;
  }
  folder.write("p.json", kProfile);
  fs::permissions(folder.path("p.json"), fs::perms::none);
  CHECK(folder.refusal("simulate --profile p.json") ==
        R"(error[C005]: cannot read p.json: Permission denied
  --> --profile
  = help: check the path and its permissions
)");
}

TEST_CASE_IN_FOLDER("a folder or file that may not be written is refused") {
  if (::geteuid() == 0) {
    MESSAGE("SKIPPED: root may write everything");
    return;
  }
  folder.write("old.txt", "old");
  fs::permissions(folder.path("old.txt"), fs::perms::owner_read);
  fs::create_directory(folder.path("closed"));
  fs::permissions(folder.path("closed"), fs::perms::owner_read | fs::perms::owner_exec);
  for (const std::string flag : {"-o", "--trace", "--export-schedule"}) {
    for (const std::string file : {"closed/x", "old.txt"}) {
      CHECK(folder.refusal({"simulate", flag, file}) ==
            "error[C051]: cannot open the file for writing: Permission denied\n  --> " + file +
                "\n  = help: choose a place that you may write to\n");
    }
  }
}

TEST_CASE_IN_FOLDER("a reader that goes away ends the command quietly") {
  Surroundings pipe;
  pipe.standard_output = Surroundings::Stdout::kPipeWithoutReader;
  for (const Words& arguments :
       {Words{"simulate"}, Words("compare --format json"), Words{"list"}, Words("list --help")}) {
    const Outcome outcome = folder.run(arguments, pipe);
    CHECK(outcome.status == 141);  // 128 + SIGPIPE, as a shell shows it
    CHECK(outcome.err.empty());
  }
  CHECK(folder.files().empty());
}

}  // namespace
}  // namespace debubble::testing
