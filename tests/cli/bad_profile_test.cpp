// Profiles that are none: refused with the exact words and the place in the file.
#include <doctest/doctest.h>

#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

TEST_CASE("a profile that is cut off is refused") {
  const Folder folder;
  folder.write("p.json", kProfile.substr(0, 300));
  CHECK(
      folder.refusal({"simulate", "--profile", "p.json"}) ==
      R"(error[P001]: not valid JSON: syntax error while parsing object key - invalid string: missing closing quote; last read: '"med'; expected string literal
  --> p.json:9:85
  = help: the file may be cut off or edited by hand; docs/profile.schema.json describes it
)");
  folder.write("e.json", "");
  CHECK(folder.refusal({"simulate", "--profile", "e.json"}) ==
        R"(error[P001]: not valid JSON: the file is empty
  --> e.json:1:1
  = help: the file may be cut off or edited by hand; docs/profile.schema.json describes it
)");
}

TEST_CASE("what follows a profile is refused") {
  const Folder folder;
  folder.write("p.json", kProfile + "x");
  CHECK(
      folder.refusal({"simulate", "--profile", "p.json"}) ==
      R"(error[P001]: not valid JSON: syntax error while parsing value - invalid literal; last read: '7}<U+000A>  ]<U+000A>}<U+000A>x'; expected end of input
  --> p.json:15:1
  = help: the file may be cut off or edited by hand; docs/profile.schema.json describes it
)");
}

TEST_CASE("what is not JSON is refused") {
  const Folder folder;
  folder.write("p.json", R"(forward 1 ms
)");
  CHECK(folder.refusal({"simulate", "--profile", "p.json"}) ==
        R"(error[P001]: not valid JSON: syntax error while parsing value - invalid literal; last read: 'fo'
  --> p.json:1:2
  = help: the file may be cut off or edited by hand; docs/profile.schema.json describes it
)");
}

TEST_CASE("JSON that is not a profile is refused") {
  const Folder folder;
  folder.write("p.json", R"({"layers": 3}
)");
  CHECK(folder.refusal({"simulate", "--profile", "p.json"}) ==
        R"(error[P010]: "schema" must be "debubble.profile/1"; got none
  --> p.json#
  = help: debubble reads profiles of this version only; `debubble import` converts other formats
)");
  folder.write("l.json", R"([1, 2]
)");
  CHECK(folder.refusal({"simulate", "--profile", "l.json"}) == R"(error[P007]: an object is expected here; got an array
  --> l.json#
  = help: objects are written {"key": value}
)");
  folder.write("v.json", replaced(kProfile, "debubble.profile/1", "debubble.profile/9"));
  CHECK(folder.refusal({"simulate", "--profile", "v.json"}) ==
        R"(error[P010]: "schema" must be "debubble.profile/1"; got the string "debubble.profile/9"
  --> v.json#/schema
  = help: debubble reads profiles of this version only; `debubble import` converts other formats
)");
}

TEST_CASE("values of a wrong type are refused") {
  const Folder folder;
  folder.write("p.json", replaced(kProfile, "\"median_ns\": 1000", "\"median_ns\": \"1000\""));
  CHECK(folder.refusal({"simulate", "--profile", "p.json"}) ==
        R"(error[P007]: "median_ns" must be a whole number of nanoseconds; got the string "1000"
  --> p.json#/layers/0/forward/median_ns
  = help: durations are integers in nanoseconds: 1.5 ms is 1500000
)");
  folder.write("l.json", replaced(kProfile, "\"microbatch_size\": 2", "\"microbatch_size\": [2]"));
  CHECK(folder.refusal({"simulate", "--profile", "l.json"}) ==
        R"(error[P007]: "microbatch_size" must be a whole number of samples; got an array
  --> l.json#/microbatch_size
  = help: null means an unknown microbatch size
)");
  folder.write("f.json", replaced(kProfile, "\"median_ns\": 1000", "\"median_ns\": 1000.5"));
  CHECK(folder.refusal({"simulate", "--profile", "f.json"}) ==
        R"(error[P007]: "median_ns" must be a whole number of nanoseconds; got 1000.5
  --> f.json#/layers/0/forward/median_ns
  = help: durations are integers in nanoseconds: 1.5 ms is 1500000
)");
  folder.write("n.json", replaced(kProfile, "\"model\": \"tiny\"", "\"model\": null"));
  CHECK(folder.refusal({"simulate", "--profile", "n.json"}) == R"(error[P007]: "model" must be a string; got null
  --> n.json#/model
  = help: strings are in double quotes
)");
}

TEST_CASE("negative values are refused") {
  const Folder folder;
  folder.write("p.json", replaced(kProfile, "\"median_ns\": 1000", "\"median_ns\": -5"));
  CHECK(folder.refusal({"simulate", "--profile", "p.json"}) ==
        R"(error[P004]: "median_ns" must be a whole number of nanoseconds, at least 0; got -5
  --> p.json#/layers/0/forward/median_ns
  = help: durations are integers in nanoseconds: 1.5 ms is 1500000
)");
  folder.write("a.json", replaced(kProfile, "\"activation_bytes\": 10", "\"activation_bytes\": -1"));
  CHECK(folder.refusal({"simulate", "--profile", "a.json"}) ==
        R"(error[P004]: "activation_bytes" must be a whole number of bytes, at least 0; got -1
  --> a.json#/layers/0/activation_bytes
  = help: sizes are integers in bytes: 1.5 MiB is 1572864
)");
}

TEST_CASE("values too large to add up are refused") {
  const Folder folder;
  folder.write("p.json", replaced(kProfile, "\"median_ns\": 1000", "\"median_ns\": 99999999999999999999"));
  CHECK(
      folder.refusal({"simulate", "--profile", "p.json"}) ==
      R"(error[P004]: "median_ns" must be a whole number of nanoseconds, at most 4503599627370496; got 99999999999999999999
  --> p.json#/layers/0/forward/median_ns
  = help: durations are integers in nanoseconds: 1.5 ms is 1500000
)");
  folder.write("t.json", replaced(kProfile, "\"median_ns\": 1000", "\"median_ns\": 4503599627370497"));
  CHECK(
      folder.refusal({"simulate", "--profile", "t.json"}) ==
      R"(error[P004]: "median_ns" must be a whole number of nanoseconds, at most 4503599627370496; got 4503599627370497
  --> t.json#/layers/0/forward/median_ns
  = help: durations are integers in nanoseconds: 1.5 ms is 1500000
)");
  folder.write("n.json", replaced(kProfile, "\"median_ns\": 1000", "\"median_ns\": NaN"));
  CHECK(folder.refusal({"simulate", "--profile", "n.json"}) ==
        R"(error[P001]: not valid JSON: syntax error while parsing value - invalid literal; last read: '"median_ns": N'
  --> n.json:9:61
  = help: the file may be cut off or edited by hand; docs/profile.schema.json describes it
)");
}

TEST_CASE("unknown keys are refused") {
  const Folder folder;
  folder.write("p.json", replaced(kProfile, "\"output_bytes\"", "\"output_byte\""));
  CHECK(folder.refusal({"simulate", "--profile", "p.json"}) == R"(error[P006]: "output_bytes" is missing
  --> p.json#/layers/0
  = help: docs/profile.schema.json lists what must be there
error[P005]: unknown key "output_byte"
  --> p.json#/layers/0
  = help: did you mean "output_bytes"?
2 errors
)");
  folder.write("t.json", replaced(kProfile, "\"dtype\"", "\"date\": 1, \"dtype\""));
  CHECK(folder.refusal({"simulate", "--profile", "t.json"}) == R"(error[P005]: unknown key "date"
  --> t.json#
  = help: docs/profile.schema.json lists the keys that are allowed here
)");
}

TEST_CASE("missing keys are refused") {
  const Folder folder;
  folder.write("p.json", replaced(kProfile, "\"forward\": {\"median_ns\": 1000}, ", ""));
  CHECK(folder.refusal({"simulate", "--profile", "p.json"}) == R"(error[P006]: "forward" is missing
  --> p.json#/layers/0
  = help: docs/profile.schema.json lists what must be there
)");
  folder.write("m.json", replaced(kProfile, "  \"model\": \"tiny\",\n", ""));
  CHECK(folder.refusal({"simulate", "--profile", "m.json"}) == R"(error[P006]: "model" is missing
  --> m.json#
  = help: docs/profile.schema.json lists what must be there
)");
  folder.write("b.json", replaced(kProfile, ", \"backward\": {\"median_ns\": 2000}", ""));
  CHECK(folder.refusal({"compare", "--profile", "b.json"}) == R"(error[P006]: the layer has no backward time
  --> b.json#/layers/0
  = help: give "backward", or both "input_grad" and "weight_grad"
)");
}

TEST_CASE("all problems of a profile are said at once") {
  const Folder folder;
  folder.write("p.json", replaced(replaced(kProfile, "\"dtype\": \"bf16\"", "\"dtype\": 16"), "\"median_ns\": 1000",
                                  "\"median_ns\": -1"));
  CHECK(folder.refusal({"simulate", "--profile", "p.json"}) == R"(error[P007]: "dtype" must be a string; got 16
  --> p.json#/dtype
  = help: strings are in double quotes
error[P004]: "median_ns" must be a whole number of nanoseconds, at least 0; got -1
  --> p.json#/layers/0/forward/median_ns
  = help: durations are integers in nanoseconds: 1.5 ms is 1500000
2 errors
)");
}

TEST_CASE("a profile and a wrong flag are both said") {
  const Folder folder;
  folder.write("p.json", R"({}
)");
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "--comm", "-3"}) ==
        R"(error[C012]: a duration cannot be negative: '-3'
  --> --comm
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
error[P010]: "schema" must be "debubble.profile/1"; got none
  --> p.json#
  = help: debubble reads profiles of this version only; `debubble import` converts other formats
2 errors
)");
}

}  // namespace
}  // namespace debubble::testing
