// What `debubble profile` refuses, with the exact words.
#include "tests/profile/fakes.hpp"

namespace debubble::testing {
namespace {

TEST_CASE("exactly one thing is measured") {
  const Folder folder;
  CHECK(folder.refusal({"profile"}) ==
        "error[C061]: nothing is given to measure\n  --> debubble profile\n"
        "  = help: give either --model NAME, or a program: -- python train.py\n");
  CHECK(folder.refusal({"profile", "--model", "gpt-1.3b", "--", "ls"}) ==
        "error[C009]: both --model and a program are given\n  --> debubble profile\n"
        "  = help: give either --model NAME, or a program: -- python train.py\n");
  CHECK(folder.refusal({"profile", "--"}) ==
        "error[C061]: no program follows\n  --> --\n  = help: write it like: -- python train.py\n");
  CHECK(folder.refusal({"profile", "python", "train.py"}) ==
        "error[C061]: unexpected \"python\"\n  --> debubble profile\n"
        "  = help: a program to measure comes after two dashes: -- python ...\n");
}

TEST_CASE("flags of the built-in transformer do not fit a program") {
  const Folder folder;
  CHECK(folder.refusal({"profile", "--seq", "8", "--", "ls"}) ==
        "error[C087]: it is about the built-in transformer, and a program is measured\n  --> --seq\n"
        "  = help: leave --seq out; the program's own arguments follow its name\n");
}

TEST_CASE("a program that is not there is not started") {
  const Folder folder;
  CHECK(folder.refusal({"profile", "--", "no-such-program"}) ==
        "error[C080]: cannot start no-such-program: No such file or directory\n  --> --\n"
        "  = help: check its spelling and PATH; give a script to its interpreter: -- python train.py\n");
}

TEST_CASE("standard output belongs to the program") {
  const Folder folder;
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"-o", "-"}, {"--format", "json"}}) {
    std::vector<std::string> arguments{"profile", flags[0], flags[1], "--", "ls"};
    CHECK(folder.refusal(arguments) ==
          "error[C050]: standard output is the program's own, no profile goes there\n  --> " + flags[0] +
              "\n  = help: name a file: -o profile.json\n");
  }
}

TEST_CASE("a wrong regex is refused before the program runs") {
  const Folder folder;
  const std::string refusal = folder.refusal({"profile", "--layers", "(", "--", "touch", "ran"});
  CHECK(contains(refusal, "error[A001]: "));
}

TEST_CASE("everything wrong with the sizes is said at once") {
  const Folder folder;
  CHECK(folder.refusal({"profile", "--model", "gpt-1.3b", "--microbatch", "0", "--dtype", "int8", "--sweep", "sq=1,2",
                        "--sweep", "seq=1,x,1", "--sweep", "microbatch=2"}) ==
        R"(error[C012]: at least 1 is needed; got 0
  --> --microbatch
  = help: leave it out for the default
error[C002]: "int8" is not one of: bf16, fp16, fp32
  --> --dtype
  = help: write --dtype bf16
error[C006]: "sq=1,2" is not microbatch=LIST or seq=LIST
  --> --sweep
  = help: did you mean seq?
error[C006]: "x" is not a whole number from 1 to 2147483647
  --> --sweep
  = help: write it like --sweep seq=1,2,4
error[C007]: seq 1 is in the list twice
  --> --sweep
  = help: keep one of the two
error[C007]: microbatch is given twice
  --> --sweep
  = help: give all its values in one --sweep microbatch=LIST
6 errors
)");
}

TEST_CASE("a sweep needs a folder") {
  const Folder folder;
  folder.write("file", "x");
  CHECK(folder.refusal({"profile", "--model", "tiny-gpt", "--sweep", "seq=8,16", "-o", "file"}) ==
        "error[C050]: file is not a folder, and none can be made there\n  --> -o\n"
        "  = help: a sweep writes one profile per size: name a folder\n");
}

TEST_CASE("a misspelt preset gets a suggestion") {
  const Folder folder;
  CHECK(contains(folder.refusal({"profile", "--model", "gpt-1.3"}), "error[C003]: "));
  CHECK(contains(folder.data({"list", "models"}), "gpt-1.3b"));
}

}  // namespace
}  // namespace debubble::testing
