// Commands that are printed to be typed again.
#include <doctest/doctest.h>

#include "tools/shell.hpp"

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

}  // namespace debubble::testing
