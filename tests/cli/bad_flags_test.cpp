// Flags without their values or against each other, and scenario files: refused with the exact words.
#include <doctest/doctest.h>

#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

TEST_CASE("a flag without its value is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "-p"}) == R"(error[C061]: no value follows
  --> --devices
  = help: write it like --devices P
)");
  CHECK(folder.refusal({"simulate", "--schedule"}) == R"(error[C061]: no value follows
  --> --schedule
  = help: write it like --schedule NAME|FILE
)");
  CHECK(folder.refusal({"simulate", "--fail-if"}) == R"(error[C061]: no value follows
  --> --fail-if
  = help: write it like --fail-if EXPR
)");
  CHECK(folder.refusal({"simulate", "--times="}) == R"(error[C065]: the value is empty
  --> --times
  = help: leave --times out, or give it one
)");
  CHECK(folder.refusal({"simulate", "-p", "-m", "4"}) == R"(error[C061]: "-m" is not a whole number up to 2147483647
  --> --devices
  = help: write it like --devices P
)");
  CHECK(folder.refusal({"simulate", "--config"}) == R"(error[C065]: no file is named
  --> --config
  = help: write --config FILE.toml
)");
  CHECK(folder.refusal({"compare", "--param"}) == R"(error[C061]: no value follows
  --> --param
  = help: write it like --param KEY=VALUE
)");
}

TEST_CASE("an empty value is refused, for it may be a variable that was never set") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--profile", ""}) == R"(error[C065]: the value is empty
  --> --profile
  = help: leave --profile out, or give it one
)");
  CHECK(folder.refusal({"simulate", "--times", ""}) == R"(error[C065]: the value is empty
  --> --times
  = help: leave --times out, or give it one
)");
  CHECK(folder.refusal({"simulate", "-p", ""}) == R"(error[C065]: the value is empty
  --> -p
  = help: leave -p out, or give it one
)");
  CHECK(folder.refusal({"simulate", "-o", ""}) == R"(error[C065]: the value is empty
  --> -o
  = help: leave -o out, or give it one
)");
  CHECK(folder.refusal({"simulate", "--fail-if", ""}) == R"(error[C065]: the value is empty
  --> --fail-if
  = help: leave --fail-if out, or give it one
)");
  CHECK(folder.refusal({"simulate", "--trace", ""}) == R"(error[C065]: the value is empty
  --> --trace
  = help: leave --trace out, or give it one
)");
  CHECK(folder.refusal({"simulate", "--config", ""}) == R"(error[C065]: no file is named
  --> --config
  = help: write --config FILE.toml
)");
  CHECK(folder.refusal({"simulate", "--config="}) == R"(error[C065]: no file is named
  --> --config
  = help: write --config FILE.toml
)");
  CHECK(folder.refusal({"import", "", "--from", "megatron"}) == R"(error[C065]: the value is empty
  --> debubble import
  = help: give it one, or leave it out
)");
}

TEST_CASE("what a verb cannot do without is named") {
  const Folder folder;
  CHECK(folder.refusal({"import"}) == R"(error[C061]: FILE is missing
  --> debubble import
  = help: run `debubble import --help` for its flags
)");
  CHECK(folder.refusal({"import", "--from", "megatron"}) == R"(error[C061]: FILE is missing
  --> debubble import
  = help: run `debubble import --help` for its flags
)");
  CHECK(folder.refusal({"import", "g.txt"}) == R"(error[C061]: --from TOOL is missing
  --> debubble import
  = help: run `debubble import --help` for its flags
)");
  CHECK(folder.refusal({"export"}) == R"(error[C061]: --to FORMAT is missing
  --> debubble export
  = help: run `debubble export --help` for its flags
)");
  CHECK(folder.refusal({"export", "-p", "4"}) == R"(error[C061]: --to FORMAT is missing
  --> debubble export
  = help: run `debubble export --help` for its flags
)");
}

TEST_CASE("flags that contradict each other are refused") {
  const Folder folder;
  folder.write("p.json", kProfile);
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "--times", "f=1"}) ==
        R"(error[C009]: --times and --profile both say what the stages cost
  --> --times
  = help: give one of them
)");
  CHECK(folder.refusal({"simulate", "--partition", "1,1"}) ==
        R"(error[C004]: there are no layers to partition without a profile or a model
  --> --partition
  = help: add --profile FILE or --model NAME
)");
  CHECK(folder.refusal({"simulate", "--partition", "auto"}) ==
        R"(error[C004]: there are no layers to partition without a profile or a model
  --> --partition
  = help: add --profile FILE or --model NAME
)");
}

TEST_CASE("two results for one place are refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--trace", "-"}) == R"(error[C066]: --output and --trace both write standard output
  --> --trace
  = help: give each its own file
)");
  CHECK(folder.refusal({"simulate", "--export-schedule", "-"}) ==
        R"(error[C066]: --output and --export-schedule both write standard output
  --> --export-schedule
  = help: give each its own file
)");
  CHECK(folder.refusal({"simulate", "--trace", "a.json", "-o", "./a.json"}) ==
        R"(error[C066]: --output and --trace both write a.json
  --> --trace
  = help: give each its own file
)");
  CHECK(folder.refusal({"simulate", "--trace", "a", "--export-schedule", "a", "-o", "b"}) ==
        R"(error[C066]: --trace and --export-schedule both write a
  --> --export-schedule
  = help: give each its own file
)");
}

TEST_CASE("a scenario file that cannot be read is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--config", "missing.toml"}) ==
        R"(error[C005]: cannot read missing.toml: No such file or directory
  --> --config
  = help: check the path and its permissions
)");
  CHECK(folder.refusal({"simulate", "--config", "."}) == R"(error[C005]: cannot read .: Is a directory
  --> --config
  = help: check the path and its permissions
)");
}

TEST_CASE("an unknown key of a scenario file is refused with its line") {
  const Folder folder;
  folder.write("s.toml", R"(# a pipeline
devices = 4
microbatche = 8
foo = 1
)");
  CHECK(folder.refusal({"simulate", "--config", "s.toml"}) ==
        R"(error[P005]: `debubble simulate` has no flag "microbatche"
  --> s.toml:3
  = help: did you mean microbatches?
error[P005]: `debubble simulate` has no flag "foo"
  --> s.toml:4
  = help: the keys are the flags of `debubble simulate --help`
2 errors
)");
  folder.write("l.toml", R"(devices = 4
)");
  CHECK(folder.refusal({"list", "--config", "l.toml"}) == R"(error[P005]: `debubble list` has no flag "devices"
  --> l.toml:1
  = help: the keys are the flags of `debubble list --help`
)");
}

TEST_CASE("a line of a scenario file that is none is refused") {
  const Folder folder;
  folder.write("s.toml", R"(devices 4

microbatches =
= 8
)");
  CHECK(folder.refusal({"simulate", "--config", "s.toml"}) == R"(error[G002]: this line is not KEY = VALUE
  --> s.toml:1
  = help: write it like: devices = 8
error[G002]: this line is not KEY = VALUE
  --> s.toml:3
  = help: write it like: devices = 8
error[G002]: this line is not KEY = VALUE
  --> s.toml:4
  = help: write it like: devices = 8
3 errors
)");
  folder.write("u.toml", R"([simulate
devices = 4
)");
  CHECK(folder.refusal({"simulate", "--config", "u.toml"}) == R"(error[G002]: the section's name is not closed by ]
  --> u.toml:1
  = help: write it like: [simulate]
)");
}

TEST_CASE("a section of a scenario file that is no verb is refused") {
  const Folder folder;
  folder.write("s.toml", R"(devices = 4
[simulat]
microbatches = 8
)");
  CHECK(folder.refusal({"simulate", "--config", "s.toml"}) == R"(error[C060]: there is no verb [simulat]
  --> s.toml:2
  = help: sections are named like verbs: [simulate], [compare]
)");
}

TEST_CASE("a wrong value in a scenario file is refused as on the command line") {
  const Folder folder;
  folder.write("s.toml", R"(devices = 0
)");
  CHECK(folder.refusal({"simulate", "--config", "s.toml"}) == R"(error[S003]: a pipeline needs at least 1 device; got 0
  --> --devices
  = help: use -p 1 or more
)");
  folder.write("w.toml", R"(devices = "four"
)");
  CHECK(folder.refusal({"simulate", "--config", "w.toml"}) ==
        R"(error[C061]: "four" is not a whole number up to 2147483647
  --> --devices
  = help: write it like --devices P
)");
  folder.write("t.toml", R"(times = "f=-1"
)");
  CHECK(folder.refusal({"compare", "--config", "t.toml"}) == R"(error[C012]: a duration cannot be negative: '-1'
  --> --times f
  = help: write it like 1.5ms, 601us or 2s, or 1.5 for 1.5 ms
)");
  folder.write("e.toml", R"(profile = ""
)");
  CHECK(folder.refusal({"simulate", "--config", "e.toml"}) == R"(error[C065]: the value is empty
  --> --profile
  = help: leave --profile out, or give it one
)");
}

}  // namespace
}  // namespace debubble::testing
