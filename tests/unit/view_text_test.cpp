// The small parts that views are made of: text, tables, diagnostics, and what the terminal can show.
#include "tests/support/test.hpp"
#include "tests/unit/tools_support.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/diagnostics.hpp"
#include "tools/views/table.hpp"
#include "tools/views/terminal.hpp"

using namespace debubble;

TEST_CASE("text is wrapped at blanks, and words that are too long are cut") {
  CHECK(wrap("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("one two three", 6) == std::vector<std::string>{"one", "two", "three"});
  CHECK(wrap("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
  CHECK(wrap("a  b ", 80) == std::vector<std::string>{"a b"});
  CHECK(wrap("", 80) == std::vector<std::string>{""});
  CHECK(wrap("\u00b5\u00b5\u00b5 x", 3) == std::vector<std::string>{"\u00b5\u00b5\u00b5", "x"});
}

TEST_CASE("text that does not fit is shortened, counted in characters") {
  CHECK(shorten("interleaved", 11) == "interleaved");
  CHECK(shorten("interleaved", 10) == "interlea..");
  CHECK(shorten("\u00b5\u00b5\u00b5\u00b5", 3) == "\u00b5..");
  CHECK(pad_left("\u00b5", 3) == "  \u00b5");
  CHECK(pad_right("abc", 2) == "abc");
}

TEST_CASE("a table aligns its columns and wraps the last one") {
  Table table({{"name", Table::Side::kLeft}, {"step\nms", Table::Side::kRight}, {"needs", Table::Side::kLeft}});
  table.add_row({"gpipe", "33.00", ""});
  table.add_row({"zb-h1", "7.00", "splits the backward"});
  table.add_row({"x"});
  CHECK(table.text(28) ==
        "        step\n"
        "name      ms  needs\n"
        "gpipe  33.00\n"
        "zb-h1   7.00  splits the\n"
        "              backward\n"
        "x\n");
  CHECK(table.natural_width() == 33);
  CHECK(contains(table.text(33, 2), "  zb-h1   7.00  splits the\n                backward\n"));
  CHECK(contains(table.text(35, 2), "  zb-h1   7.00  splits the backward\n"));
}

TEST_CASE("columns that do not fit follow in a second table, behind the first column") {
  Table table({{"stage", Table::Side::kLeft}, {"one", Table::Side::kRight}, {"two", Table::Side::kRight}});
  table.add_row({"s0", "1", "2"});
  CHECK(table.folded(15) == "stage  one  two\ns0       1    2\n");
  CHECK(table.folded(14) == "stage  one\ns0       1\nstage  two\ns0       2\n");
}

TEST_CASE("a table without headings starts with its first row") {
  Table table({{"", Table::Side::kLeft}, {"", Table::Side::kRight}});
  table.add_row({"a", "1"});
  CHECK(table.text(80) == "a  1\n");
}

TEST_CASE("colour is decided by the flag, then the environment, then the terminal") {
  TerminalFacts facts;
  CHECK_FALSE(use_color(ColorChoice::kAuto, facts));
  facts.is_terminal = true;
  CHECK(use_color(ColorChoice::kAuto, facts));
  facts.term = "dumb";
  CHECK_FALSE(use_color(ColorChoice::kAuto, facts));
  facts.force_color = "0";
  CHECK_FALSE(use_color(ColorChoice::kAuto, facts));
  facts.force_color = "1";
  CHECK(use_color(ColorChoice::kAuto, facts));
  facts.force_color = "";
  facts.clicolor_force = "1";
  CHECK(use_color(ColorChoice::kAuto, facts));
  facts.no_color = "1";
  CHECK_FALSE(use_color(ColorChoice::kAuto, facts));
  CHECK(use_color(ColorChoice::kAlways, facts));
  CHECK_FALSE(use_color(ColorChoice::kNever, TerminalFacts{true, 80, "", "1", "", "xterm", ""}));
}

TEST_CASE("the width is the flag's, then COLUMNS', then the terminal's, then 80") {
  TerminalFacts facts;
  CHECK(use_width({}, facts) == 80);
  facts.window_columns = 132;
  CHECK(use_width({}, facts) == 132);
  for (const char* nonsense : {"", "0", "-5", "wide", "100x", "99999999999"}) {
    facts.columns = nonsense;
    CHECK(use_width({}, facts) == 132);
  }
  facts.columns = "100";
  CHECK(use_width({}, facts) == 100);
  CHECK(use_width(60, facts) == 60);
  CHECK(use_width(39, facts) == kNarrowest);
  CHECK(use_width(40, facts) == 40);
  CHECK(use_width(5000, facts) == 1000);
}

TEST_CASE("diagnostics without colour are the text of the error") {
  const Diagnostic one{"P004", "a.json#/x", "x must be positive", "write 1"};
  const Diagnostic two{"P005", "", "y is missing", ""};
  ViewStyle style;
  CHECK(diagnostics_view(std::vector{one}, style) == to_string(one));
  CHECK(diagnostics_view(std::vector{one, two}, style) == to_string(one) + to_string(two) + "2 errors\n");
  style.color = true;
  CHECK(diagnostics_view(std::vector{one}, style) ==
        "\033[1;31merror[P004]\033[0m\033[1m: x must be positive\033[0m\n"
        "\033[1;36m  --> \033[0ma.json#/x\n"
        "\033[1;36m  = \033[0m\033[1mhelp\033[0m: write 1\n");
}

TEST_CASE("findings are one line each") {
  Report report;
  report.findings = {LeftOutOfModel{"deep"}, Refused{{"S001", "", "p must be even", "try 4"}}};
  CHECK(findings_view(report, ViewStyle{}) == "warning[F030]: deep\nerror[S001]: p must be even; try 4\n");
}
