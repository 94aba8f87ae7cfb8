// Traces and flags that `debubble import` refuses, with the exact words.
#include <doctest/doctest.h>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

const std::string kTrace = R"({"traceEvents": [
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1.5, "dur": 2.5, "args": {"correlation": 1}}
]})";

TEST_CASE("an unknown tool is refused with those that are known") {
  const Folder folder;
  folder.write("t.json", kTrace);
  CHECK(folder.refusal({"import", "--from", "nvprof", "t.json"}) ==
        R"(error[C003]: "nvprof" is not a tool debubble can import from
  --> --from
  = help: known tools: kineto, nsys, records, profiles, megatron, torchtitan, deepspeed, accelerate, nemo, nanotron, neox, run, gemm-table
)");
}

TEST_CASE("flags that a launch script has no use for are refused") {
  const Folder folder;
  CHECK(folder.refusal({"import", "--from", "megatron", "run.sh", "--layers", "x"}) ==
        R"(error[C087]: means nothing for a Megatron script
  --> --layers
  = help: leave --layers out
)");
  CHECK(folder.refusal({"import", "--from", "megatron", "run.sh", "run.sh"}) ==
        R"(error[C087]: a Megatron script is one file; got 2
  --> FILE
  = help: import them one by one
)");
}

TEST_CASE("profiles to be joined are at least two, and have no use for flags of traces") {
  const Folder folder;
  CHECK(folder.refusal({"import", "--from", "profiles", "p.json"}) ==
        R"(error[C061]: one profile is a model by itself
  --> FILE
  = help: give the profiles of all pipeline stages, which --rank made
)");
  CHECK(folder.refusal({"import", "--from", "profiles", "a.json", "b.json", "--rank", "1"}) ==
        R"(error[C087]: means nothing for profiles
  --> --rank
  = help: leave --rank out
)");
}

TEST_CASE("impossible sizes and patterns are refused before anything is read") {
  const Folder folder;
  CHECK(folder.refusal({"import", "--from", "kineto", "none.json", "--microbatch", "0"}) ==
        R"(error[C012]: must be at least 1; got 0
  --> --microbatch
  = help: leave --microbatch out when it is not known
)");
  CHECK(folder.refusal({"import", "--from", "kineto", "none.json", "--warm-up", "-1"}) ==
        R"(error[C012]: the number of steps to discard is at least 0; got -1
  --> --warm-up
  = help: leave --warm-up out to have it detected
)");
  CHECK(folder.refusal({"import", "--from", "kineto", "none.json"}) ==
        R"(error[C005]: cannot read none.json: No such file or directory
  --> FILE
  = help: check the path and its permissions
)");
  folder.write("t.json", kTrace);
  CHECK(folder.refusal({"import", "--from", "kineto", "t.json", "--layers", "a(b"})
            .starts_with("error[A001]: \"a(b\" is no"));
}

TEST_CASE("a profile and an explanation cannot both go to stdout") {
  const Folder folder;
  folder.write("t.json", kTrace);
  CHECK(folder.refusal({"import", "--from", "kineto", "t.json", "--explain", "-o", "-"}) ==
        R"(error[C066]: the profile and the explanation cannot both go to -
  --> --output
  = help: give -o a file's name, or leave it out for the explanation alone
)");
}

TEST_CASE("a trace without layers says how to name them, or to do without, and no file is left") {
  const Folder folder;
  folder.write("t.json", kTrace);
  const std::string said = folder.refusal({"import", "--from", "kineto", "t.json", "-o", "p.json"});
  CHECK(said.starts_with("error[A002]: no range is a layer\n  --> --layers\n  = help: "));
  CHECK(said.ends_with("; --layers none takes the whole model as one layer\n"));
}

TEST_CASE("a file of another kind is refused by every reader") {
  const Folder folder;
  folder.write("t.json", kTrace);
  folder.write("t.txt", "not a trace\n");
  CHECK(folder.refusal({"import", "--from", "kineto", "t.txt"}) ==
        "error[P001]: not JSON from byte 2 on\n  --> t.txt:1:2\n");
  CHECK(folder.refusal({"import", "--from", "nsys", "t.json"}) ==
        R"(error[P010]: this is a Chrome trace, which debubble import --from nsys does not take
  --> t.json
  = help: `debubble import --from kineto t.json` reads it; debubble import --from nsys takes: files the tool wrote; traces: one per rank
)");
  CHECK(folder.refusal({"import", "--from", "nsys", "t.txt"}) ==
        R"(error[P010]: not an SQLite database: file is not a database
  --> t.txt
  = help: make one of a report: nsys export --type sqlite report.nsys-rep
)");
  CHECK(folder.refusal({"import", "--from", "nsys", "none.sqlite"}) ==
        R"(error[C005]: cannot read none.sqlite: No such file or directory
  --> none.sqlite
  = help: check the path and its permissions
)");
  CHECK(folder.refusal({"import", "--from", "records", "t.json"}).starts_with("error[P010]"));
  folder.write("p.json", "{\"schema\": \"debubble.profile/1\"}\n");
  CHECK(folder.refusal({"import", "--from", "megatron", "p.json"}) ==
        R"(error[P010]: this is a profile of layer times, which debubble import --from megatron does not take
  --> p.json
  = help: `debubble simulate --profile p.json` reads it; debubble import --from megatron takes: files the tool wrote; traces: one per rank
)");
}

TEST_CASE("a bad file among good ones is named, and nothing is written") {
  const Folder folder;
  folder.write("good.json", kTrace);
  folder.write("cut.json", kTrace.substr(0, 60));
  CHECK(folder.refusal({"import", "--from", "kineto", "good.json", "cut.json", "-o", "p.json"}) ==
        R"(error[P001]: the file ends in the middle, after byte 60
  --> cut.json:2:43
  = help: was the program killed while it wrote?
)");
}

}  // namespace
}  // namespace debubble::testing
