// debubble trace lint, through the command: what it reads, prints and returns.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

bool lint_contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

using nlohmann::json;

constexpr const char* kBentTrace =
    "{\"traceEvents\":[\n"
    "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":5},\n"
    "{\"ph\":\"X\",\"name\":\"<b>\\u001b[31m\\\"\",\"pid\":1,\"tid\":2,\"ts\":4,\"dur\":5},\n"
    "{\"ph\":\"s\",\"name\":\"to\",\"cat\":\"c\",\"id\":1,\"pid\":1,\"tid\":2,\"ts\":1}]}";

TEST_CASE("traces of ours have no findings, plain, in gzip and from stdin, strictly, too") {
  const Folder folder;
  (void)folder.data(
      {"simulate", "--schedule", "zb-h1", "-p", "4", "--comm", "0.1", "--trace", "t.json.gz", "-o", "r.txt"});
  const Outcome lint = folder.run({"trace", "lint", "t.json.gz", "t.json.gz", "--strict"});
  CHECK(lint.status == 0);
  CHECK(lint.err.empty());
  CHECK(lint_contains(lint.out, "t.json.gz\n"));
  CHECK(lint_contains(lint.out, "no findings\n"));
}

TEST_CASE("findings have their place, end with status 1, and their names cannot steer the terminal") {
  const Folder folder;
  folder.write("bent.json", kBentTrace);
  const Outcome lint = folder.run({"trace", "lint", "bent.json"});
  CHECK(lint.status == 1);
  CHECK(lint.err.empty());
  CHECK(lint.out ==
        "bent.json\n"
        "3 events: 2 slices on 1 track, 1 arrow, 0 counter events\n"
        "  nesting  #/traceEvents/1  \"<b>\\x1b[31m\"\" begins within \"a\" of its track and\n"
        "                            ends after it\n"
        "  arrow    #/traceEvents/2  arrow \"1\" begins, but none of its id, name and\n"
        "                            category ends\n"
        "2 findings: arrow 1, nesting 1\n");
  const Outcome numbers = folder.run({"trace", "lint", "bent.json", "--format", "json"});
  CHECK(numbers.status == 1);
  const json file = json::parse(numbers.out)["files"][0];
  CHECK(file["finding_count"] == 2);
  CHECK(file["by_rule"]["nesting"] == 1);
  CHECK(file["findings"][0]["place"] == "bent.json#/traceEvents/1");
  CHECK(file["findings"][0]["message"] == "\"<b>\x1b[31m\"\" begins within \"a\" of its track and ends after it");
}

TEST_CASE("remarks count with --strict only, and --details shows more of each rule") {
  const Folder folder;
  std::string text = "[";
  for (int i = 0; i < 30; ++i) {
    text += std::string(i == 0 ? "" : ",") + R"({"ph":"X","name":"a","pid":"p","tid":1,"dur":1,"ts":)" +
            std::to_string(i) + "}";
  }
  folder.write("t.json", text + "]");
  CHECK(folder.run({"trace", "lint", "t.json"}).status == 0);
  const Outcome strict = folder.run({"trace", "lint", "t.json", "--strict"});
  CHECK(strict.status == 1);
  CHECK(lint_contains(strict.out, "32 findings: text-id 30, unnamed 2; 12 of them above"));
  CHECK(lint_contains(folder.run({"trace", "lint", "t.json", "--strict", "--details"}).out,
                      "32 findings: text-id 30, unnamed 2\n"));
}

TEST_CASE("what is no trace is refused, and nothing is written") {
  const Folder folder;
  folder.write("ok.json", "[]");
  folder.write("cut.json", "{\"traceEvents\":[");
  CHECK(lint_contains(folder.refusal({"trace", "lint", "ok.json", "cut.json", "-o", "out.txt"}), "error[P001]"));
  CHECK(folder.files() == "cut.json ok.json");
  CHECK(lint_contains(folder.refusal({"trace", "lint", "none.json"}), "error[C005]"));
  folder.write("bytes", "\xff\xfe");
  CHECK(lint_contains(folder.refusal({"trace", "lint", "bytes"}), "error[P002]"));
  folder.write("report.json", folder.data({"simulate", "--format", "json"}));
  CHECK(lint_contains(folder.refusal({"trace", "lint", "report.json"}), "error[P010]"));
  CHECK(lint_contains(folder.refusal({"trace", "lint"}), "error[C061]: FILE is missing"));
  CHECK(lint_contains(folder.refusal({"trace", "cut", "ok.json"}),
                      "error[C003]: nothing called \"cut\" is done to a trace"));
}

}  // namespace
}  // namespace debubble::testing
