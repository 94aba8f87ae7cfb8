// Several profiles that do not make one model, or sizes that cannot be reached: refused with the exact words.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

const std::string kFour = replaced(kProfile, "\"microbatch_size\": 2", "\"microbatch_size\": 4");

TEST_CASE("a folder without profiles is refused") {
  const Folder folder;
  std::filesystem::create_directory(folder.path("empty"));
  CHECK(folder.refusal({"simulate", "--profile", "empty"}) ==
        R"(error[P016]: the folder empty holds no .json files
  --> --profile
  = help: `debubble profile --sweep microbatch=1,2,4 -o empty` writes one for each size
)");
}

TEST_CASE("what is no profile in a folder is refused, with every file that is none") {
  const Folder folder;
  folder.write("a.json", "{}");
  folder.write("b.json", kProfile);
  folder.write("c.json", "[]");
  CHECK(folder.refusal({"simulate", "--profile", "."}) ==
        R"(error[P010]: "schema" must be "debubble.profile/1"; got none
  --> ./a.json#
  = help: debubble reads profiles of this version only; `debubble import` converts other formats
error[P007]: an object is expected here; got an array
  --> ./c.json#
  = help: objects are written {"key": value}
2 errors
)");
}

TEST_CASE("several profiles without a word which size is meant are refused") {
  const Folder folder;
  folder.write("a.json", kProfile);
  folder.write("b.json", kFour);
  CHECK(folder.refusal({"simulate", "--profile", "a.json", "--profile", "b.json"}) ==
        R"(error[L024]: which size is meant? The profiles are of 2 and 4 samples
  --> --microbatch-size
  = help: add --microbatch-size 2, or any other number
)");
  folder.write("b.json", replaced(kFour, "\"sequence_length\": 128", "\"sequence_length\": 64"));
  CHECK(folder.refusal({"compare", "--profile", "."}) ==
        R"(error[L024]: which size is meant? The profiles are of 2 and 4 samples
  --> --microbatch-size
  = help: add --microbatch-size 2, or any other number
error[L024]: which size is meant? The profiles are of 64 and 128 tokens
  --> --sequence
  = help: add --sequence 64, or any other number
2 errors
)");
}

TEST_CASE("another size than that of the only profile is refused") {
  const Folder folder;
  folder.write("a.json", kProfile);
  CHECK(folder.refusal({"simulate", "--profile", "a.json", "--microbatch-size", "3"}) ==
        R"(error[L025]: there are no times for 3 x 128: one size was measured (2 x 128)
  --> --profile
  = help: measure a second microbatch at that sequence; or take a measured size
)");
  CHECK(folder.refusal({"simulate", "--profile", "a.json", "--sequence", "256"}) ==
        R"(error[L025]: there are no times for 2 x 256: one size was measured (2 x 128)
  --> --profile
  = help: measure a second sequence at that microbatch; or take a measured size
)");
}

TEST_CASE("profiles of different models are refused") {
  const Folder folder;
  folder.write("a.json", kProfile);
  folder.write("b.json", replaced(kFour, "\"model\": \"tiny\"", "\"model\": \"large\""));
  CHECK(folder.refusal({"simulate", "--profile", ".", "--microbatch-size", "3"}) ==
        R"(error[L020]: the profiles are not of one model: "large" here, "tiny" in ./a.json
  --> ./b.json
  = help: only sizes of one measured model can be combined: leave one of the two out
)");
}

TEST_CASE("profiles with different layers are refused") {
  const Folder folder;
  folder.write("a.json", kProfile);
  folder.write("b.json", replaced(kFour, "\"parameter_bytes\": 7", "\"parameter_bytes\": 8"));
  CHECK(folder.refusal({"simulate", "--profile", ".", "--microbatch-size", "3"}) ==
        R"(error[L020]: layer 0, "a": its parameters take 8 bytes here, 7 in ./a.json
  --> ./b.json
  = help: profiles of one model at several sizes have the same layers; another --tp, another script or another way of measuring has others
)");
}

TEST_CASE("the same size twice is refused") {
  const Folder folder;
  folder.write("a.json", kProfile);
  folder.write("b.json", kProfile);
  CHECK(folder.refusal({"simulate", "--profile", ".", "--microbatch-size", "3"}) ==
        R"(error[L020]: the size 2 x 128 was measured twice: ./a.json is of it, too
  --> ./b.json
  = help: leave one of the two out
)");
}

TEST_CASE("profiles of unknown sizes are refused where sizes matter") {
  const Folder folder;
  folder.write("a.json", kProfile);
  folder.write("b.json", replaced(kProfile, "\"microbatch_size\": 2", "\"microbatch_size\": null"));
  CHECK(folder.refusal({"simulate", "--profile", ".", "--microbatch-size", "3"}) ==
        R"(error[L020]: "microbatch_size" is null: which size this is of is not known
  --> ./b.json
  = help: write the number there; `debubble import --microbatch-size N --sequence N` sets both
)");
  CHECK(folder.refusal({"simulate", "--profile", "b.json", "--microbatch-size", "3"}) ==
        R"(error[L020]: the profile's "microbatch_size" is null: no other size follows from it
  --> --microbatch-size
  = help: write the number of samples into b.json
)");
  CHECK(folder.refusal({"simulate", "--profile", "b.json", "--sequence", "256"}) ==
        R"(error[L025]: there are no times for ? x 256: one size was measured (? x 128)
  --> --profile
  = help: measure a second sequence at that microbatch; or take a measured size
)");
  folder.write("c.json", replaced(kProfile, "\"sequence_length\": 128", "\"sequence_length\": null"));
  CHECK(
      folder.refusal({"simulate", "--profile", "c.json", "--sequence", "64"}) ==
      R"(error[L025]: the profile's "sequence_length" is null: the model has no sequences, or their length is not known
  --> --sequence
  = help: leave --sequence out, or write the number of tokens into c.json
)");
}

TEST_CASE("sizes below 1 are refused") {
  const Folder folder;
  folder.write("a.json", kProfile);
  folder.write("b.json", kFour);
  CHECK(folder.refusal({"simulate", "--profile", ".", "--microbatch-size", "0", "--sequence", "-5"}) ==
        R"(error[L025]: from 1 to 2147483647 samples are possible; got 0
  --> --microbatch-size
  = help: measured: 2 and 4
error[L025]: from 1 to 2147483647 tokens are possible; got -5
  --> --sequence
  = help: measured: 128
2 errors
)");
}

TEST_CASE("a size so far off that it cannot be counted is refused") {
  const Folder folder;
  folder.write("a.json", replaced(kProfile, "\"median_ns\": 1000", "\"median_ns\": 4503599627370496"));
  folder.write("b.json", replaced(kFour, "\"median_ns\": 1000", "\"median_ns\": 4503599627370496"));
  CHECK(folder.refusal({"simulate", "--profile", ".", "--microbatch-size", "2000000000"}) ==
        R"(error[L025]: a layer's time at 2000000000 x 128 is beyond what can be counted
  --> --profile
  = help: ask for a size nearer to those that were measured
)");
}

TEST_CASE("sizes without a profile or a model still describe nothing") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--microbatch-size", "3"}) ==
        R"(error[C004]: it is a size of a model, and there is neither --model nor --profile
  --> --microbatch-size
  = help: add --model NAME (`debubble list models`) or --profile FILE; without either, a microbatch is one sample of toy units, and -m or --gbs says how many there are
)");
}

}  // namespace
}  // namespace debubble::testing
