// Commands that are printed to be typed again.
#include <doctest/doctest.h>

#include <optional>

#include "formats/text/shell.hpp"

namespace debubble::testing {

using Lines = std::vector<std::string>;

TEST_CASE("a long command is cut between arguments, and a shell reads on") {
  CHECK(command_lines("debubble simulate -p 4", 40) == Lines{"debubble simulate -p 4"});
  CHECK(command_lines("debubble simulate -p 4 -m 8", 20) == Lines{"debubble simulate \\", "-p 4 -m 8"});
  CHECK(command_lines("run --sizes layers=96,hidden=12288,heads=96 -p 4", 20) ==
        Lines{"run --sizes \\", "layers=96,hidden=12288,heads=96 \\", "-p 4"});
}

TEST_CASE("what is quoted is one argument") {
  CHECK(command_lines("run 'a b c d e f' x", 8) == Lines{"run \\", "'a b c d e f' \\", "x"});
  CHECK(command_lines("run 'it'\\''s so' x", 8) == Lines{"run \\", "'it'\\''s so' \\", "x"});
  CHECK(command_lines("", 8) == Lines{""});
}

TEST_CASE("flags are repeated as they were typed, what was not typed is not") {
  FlagLine line;
  CHECK(line.text().empty());
  line.add("--times", "f=1,b=2");
  line.add("--comm", "");
  line.add_number("-p", std::optional<int>(4));
  line.add_number("-m", std::optional<int>());
  line.add_switch("--dropout", true);
  line.add_switch("--keep-whole", false);
  line.add_part("");
  line.add_part("--tp 2 --dp 2");
  line.add("--profile", "my model.json");
  CHECK(line.text() == "--times f=1,b=2 -p 4 --dropout --tp 2 --dp 2 --profile 'my model.json'");
}

}  // namespace debubble::testing
