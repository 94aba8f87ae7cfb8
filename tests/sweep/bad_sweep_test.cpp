// What `debubble sweep` refuses before it begins, in the exact words where they are its own.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

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
