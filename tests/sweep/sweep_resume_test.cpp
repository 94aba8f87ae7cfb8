// A sweep that was cut off goes on where it was, and ends as if nothing had happened.
#include <csignal>
#include <filesystem>
#include <random>

#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

namespace fs = std::filesystem;
const Words kSweep = "sweep --schedule 1f1b,zb-h1,chimera -p 3:4 -m 4:12:+2 -o rows";

// Of so many bytes, the first and last ones and some between.
std::vector<std::size_t> cuts(std::size_t bytes) {
  std::vector<std::size_t> places{0, 1, 2, bytes - 2, bytes - 1, bytes};
  std::minstd_rand random(7);
  for (int k = 0; k < 24; ++k) places.push_back(random() % bytes);
  return places;
}

TEST_CASE_IN_FOLDER("cut off anywhere, it goes on to the same bytes") {
  for (const char* format : {"csv", "json"}) {
    const Words words = joined(kSweep, {"--format", format});
    fs::remove(folder.path("rows"));
    CHECK(folder.data(words).empty());
    const std::string whole = folder.read("rows");
    for (const std::size_t bytes : cuts(whole.size())) {
      folder.write("rows", whole.substr(0, bytes));
      CAPTURE(bytes);
      CHECK(folder.data(joined(words, {"--resume"})).empty());
      CHECK(folder.read("rows") == whole);
    }
  }
}

TEST_CASE_IN_FOLDER("killed while it runs, it goes on to the same bytes") {
  const Words words = "sweep -p 8 -m 32 --comm 0.001:1:+0.001 --format csv -o";
  CHECK(folder.data(joined(words, {"whole"})).empty());
  const std::string whole = folder.read("whole");
  for (const int signal : {SIGKILL, SIGINT, SIGTERM}) {
    fs::remove(folder.path("rows"));
    Surroundings surroundings;
    surroundings.signal = signal;
    std::error_code none;
    surroundings.signal_when = [&] {
      return fs::exists(folder.path("rows")) && fs::file_size(folder.path("rows"), none) > 4000;
    };
    const Outcome outcome = folder.run(joined(words, {"rows"}), surroundings);
    CAPTURE(signal);
    if (outcome.status != 0) {  // it may have been done before the signal came
      CHECK(outcome.status == (signal == SIGKILL ? -SIGKILL : 128 + signal));
      const std::string cut = folder.read("rows");
      CHECK(whole.starts_with(cut));
      if (signal != SIGKILL) {
        CHECK(cut.back() == '\n');
        CHECK(contains(outcome.err, "--resume goes on from there"));
      }
    }
    CHECK(folder.data(joined(words, "rows --resume")).empty());
    CHECK(folder.read("rows") == whole);
  }
}

TEST_CASE_IN_FOLDER("what is whole stays as it is") {
  const Words words = joined(kSweep, "--format csv");
  CHECK(folder.data(joined(words, {"--resume"})).empty());  // nothing is there yet
  const std::string whole = folder.read("rows");
  CHECK(folder.data(joined(words, {"--resume"})).empty());
  CHECK(folder.read("rows") == whole);
}

TEST_CASE_IN_FOLDER("the rows of another sweep are refused, and stay") {
  folder.write("p.json", kProfile);
  const Words words = "sweep --profile p.json -p 1,2 -m 4 --format csv -o rows";
  CHECK(folder.data(words).empty());
  const std::string whole = folder.read("rows");
  CHECK(folder.refusal(joined(words, "--resume -m 6")).find("error[C050]") == 0);
  CHECK(contains(folder.refusal(joined(words, "--resume --comm 1us")), "this is not row 0 of this sweep"));
  CHECK(folder.refusal(joined(words, "--resume --format json")).find("error[C050]") == 0);
  folder.write("p.json", replaced(kProfile, "\"median_ns\": 1000", "\"median_ns\": 1001"));
  CHECK(contains(folder.refusal(joined(words, {"--resume"})), "this is not row 0 of this sweep"));
  CHECK(folder.read("rows") == whole);
}

TEST_CASE_IN_FOLDER("a file is not replaced without a word") {
  folder.write("rows", "precious\n");
  CHECK(folder.refusal(joined(kSweep, "--format csv")) ==
        "error[C050]: the file has something in it, and a sweep replaces nothing\n"
        "  --> rows\n"
        "  = help: add --resume to go on with it, name another file, or remove it\n");
}

TEST_CASE_IN_FOLDER("interrupted, a table shows what was done") {
  Surroundings surroundings;
  surroundings.signal = SIGINT;
  const auto begin = std::chrono::steady_clock::now();
  surroundings.signal_when = [&] { return std::chrono::steady_clock::now() - begin > std::chrono::seconds(2); };
  const Outcome outcome = folder.run("sweep -p 16 -m 64 --comm 0.0001:50:+0.0001", surroundings);
  CHECK(outcome.status == 130);
  CHECK(contains(outcome.out, "cut off after"));
  CHECK(contains(outcome.out, "best by throughput"));
}

// What `debubble sweep` refuses before it begins, in the exact words where they are its own.

TEST_CASE_IN_FOLDER("strange texts end in a row or a refusal, never in a crash") {
  for (const char* text : {"=",
                           "a=",
                           "=;=",
                           ":::",
                           "1:",
                           ":1",
                           "*",
                           "+",
                           "1:2:",
                           "1:2:+",
                           "1:2:*",
                           "99999999999999999999",
                           "0.0000000001:1",
                           "\xff\xfe",
                           "1:1e9",
                           "-1",
                           "1:2:3:4",
                           "\t",
                           "\"",
                           "[1,2]",
                           "{}"}) {
    for (const char* flag : {"--tp", "--comm", "--param", "--schedule", "--times", "--memory", "--seed", "--slow"}) {
      CAPTURE(text);
      CAPTURE(flag);
      const Outcome outcome = folder.run({"sweep", std::string(flag) + "=" + text, "--format", "csv"});
      CHECK(outcome.status >= 0);
      CHECK(outcome.status <= 2);
    }
  }
}

TEST_CASE_IN_FOLDER("a full disk and a closed pipe end it") {
  Surroundings surroundings;
  surroundings.standard_output = Surroundings::Stdout::kFull;
  const Outcome full = folder.run("sweep -m 1:50 --format csv", surroundings);
  CHECK(full.status == 2);
  CHECK(full.err.find("error[C051]") == 0);
  surroundings.standard_output = Surroundings::Stdout::kPipeWithoutReader;
  CHECK(folder.run("sweep -m 1:50 --format csv", surroundings).status == 128 + 13);
}

}  // namespace
}  // namespace debubble::testing
