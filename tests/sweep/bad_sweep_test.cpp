// What `debubble sweep` refuses before it begins, in the exact words where they are its own.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using Words = std::vector<std::string>;

std::string refused(const Folder& folder, Words words) {
  words.insert(words.begin(), "sweep");
  return folder.refusal(words);
}

TEST_CASE("lists and ranges that make no sense") {
  const Folder folder;
  CHECK(refused(folder, {"--tp", "1,,2"}) ==
        "error[C006]: \"1,,2\" has an empty value\n  --> --tp\n"
        "  = help: leave no value out between two separators\n");
  CHECK(refused(folder, {"-m", "8:2"}) ==
        "error[C006]: the range \"8:2\" has no values: it begins above its end\n  --> --microbatches\n"
        "  = help: write the smaller number first\n");
  CHECK(refused(folder, {"-m", "8:64:2"}) ==
        "error[C006]: the range \"8:64:2\" has no values: \"2\" is neither +STEP nor *FACTOR\n  --> --microbatches\n"
        "  = help: write it like 2:16:+2 or 8:64:*2\n");
  CHECK(refused(folder, {"-m", "8,16,8"}) ==
        "error[C007]: the value 8 is there twice\n  --> --microbatches\n  = help: give each value once\n");
  CHECK(refused(folder, {"-p", "2,x"}) ==
        "error[C061]: \"x\" is not a whole number up to 2147483647\n  --> --devices\n"
        "  = help: write it like --devices 2,4,8 or --devices 2:16:*2\n");
  CHECK(refused(folder, {"--dropout", "perhaps"}).find("error[C002]: \"perhaps\" is neither on nor off") == 0);
}

TEST_CASE("everything that is wrong is said at once") {
  const Folder folder;
  const std::string said = refused(folder, {"--tp", "1,,2", "-m", "8:2", "-p", "2,x"});
  for (const char* place : {"--> --tp", "--> --microbatches", "--> --devices"}) {
    CHECK(said.find(place) != std::string::npos);
  }
}

TEST_CASE("too much") {
  const Folder folder;
  CHECK(refused(folder, {"--seed", "1:2000000"}).find("error[C012]") == 0);
  CHECK(refused(folder, {"--seed", "1:1000000", "-m", "1:1000000", "-p", "1,2"}) ==
        "error[C012]: more than 1000000000000 combinations\n  --> debubble sweep\n"
        "  = help: give fewer values, or several sweeps\n");
  CHECK(refused(folder, {"--threads", "0"}).find("error[C012]") == 0);
  CHECK(refused(folder, {"--top", "0"}).find("error[C012]") == 0);
  CHECK(refused(folder, {"--best", "luck"}).find("error[C002]") == 0);
  CHECK(refused(folder, {"--format", "yaml"}).find("error[C002]") == 0);
}

TEST_CASE("what goes on needs a file of rows") {
  const Folder folder;
  CHECK(refused(folder, {"--resume"}) ==
        "error[C004]: a table of the best is not a file of rows\n  --> --resume\n"
        "  = help: add --format csv or --format json\n");
  CHECK(refused(folder, {"--resume", "--format", "csv"}).find("error[C050]: standard output cannot be gone on with") ==
        0);
  CHECK(refused(folder, {"--format", "csv", "-o", "rows.csv.gz"}).find("error[C050]") == 0);
  CHECK(refused(folder, {"--format", "csv", "-o", "none/rows.csv"}).find("error[C051]") == 0);
}

TEST_CASE("strange texts end in a row or a refusal, never in a crash") {
  const Folder folder;
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

TEST_CASE("a full disk and a closed pipe end it") {
  const Folder folder;
  Surroundings surroundings;
  surroundings.standard_output = Surroundings::Stdout::kFull;
  const Outcome full = folder.run({"sweep", "-m", "1:50", "--format", "csv"}, surroundings);
  CHECK(full.status == 2);
  CHECK(full.err.find("error[C051]") == 0);
  surroundings.standard_output = Surroundings::Stdout::kPipeWithoutReader;
  CHECK(folder.run({"sweep", "-m", "1:50", "--format", "csv"}, surroundings).status == 128 + 13);
}

}  // namespace
}  // namespace debubble::testing
