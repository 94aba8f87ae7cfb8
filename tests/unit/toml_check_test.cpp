// What is refused before toml++ sees it, and what is let pass. All texts here are such as toml++ itself reads or
// refuses.
#include "formats/frameworks/toml_check.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

// "LINE: what", or "passes".
std::string verdict(const std::string& text) {
  const std::optional<TomlFault> fault = toml_fault(text);
  return fault ? std::to_string(fault->line) + ": " + fault->what : "passes";
}

bool refused(const std::string& text, const std::string& line_and_words) {
  CAPTURE(text);
  CAPTURE(verdict(text));
  return verdict(text).starts_with(line_and_words);
}

}  // namespace

TEST_CASE("TOML of every kind passes") {
  CHECK(verdict("") == "passes");
  CHECK(verdict("\xEF\xBB\xBF# a comment: \u4E2D ]}\n\n[a]\nb = 1 # [=]\n") == "passes");
  CHECK(verdict("[ a . \"\u4E2D ] b\" . 'c#' ] # x\r\n\"\u4E2D\" = '\u4E2D'\r\n") == "passes");
  CHECK(verdict("[[-1]]\n_ = [\n  1, # one ]\n  {a.b = [], c = \"}\"},\n]\n[[ 2a ]]") == "passes");
  CHECK(verdict("a = 2000-01-01 10:10:10.5+01:00\nb = 2000-01-01T10:10:10Z\nc = 2000-01-01\nd = 07:32:00") == "passes");
  CHECK(verdict("a = +1_000\nb = 0xDEAD_BEEF\nc = 6.02e-23\nd = [-inf, nan, true, false]") == "passes");
  CHECK(verdict("a = \"\"\"\n]\u4E2D \\\n   b \"\" \\\" \"\"\"\"\"\nb = '''\n[,]\\''''\nc = \"\\\\\"") == "passes");
  CHECK(verdict("k = \"" + std::string(500, '9') + "\"\n" + std::string(60, 'k') + " = 1") == "passes");
  CHECK(verdict("\"a\".b.1 . 2 = 1.5") == "passes");
}

TEST_CASE("the name of a table begins with a key") {
  const char* const words = ": the name of a table begins with";
  CHECK(refused("a = 1\n[]", std::string("2") + words));
  CHECK(refused("\n  [ [a] ]", std::string("2") + words));
  CHECK(refused("b = \"\"\"\n\n\"\"\"\n[[]]", std::string("4") + words));
  CHECK(refused("[", std::string("1") + words));
}

TEST_CASE("outside of quotes and comments all is ASCII") {
  const char* const words = ": a character outside of ASCII that is neither";
  CHECK(refused("# \u4E2D\n\u4E2D = 1", std::string("2") + words));
  CHECK(refused("[a\u4E2D]", std::string("1") + words));
  CHECK(refused("a = \"x\"\u4E2D", std::string("1") + words));
  CHECK(refused("a = [\n1,\n\u4E2D]", std::string("3") + words));
  CHECK(refused("a = \"\\\"\" \u4E2D", std::string("1") + words));
  CHECK(refused("a = '\\' \u4E2D", std::string("1") + words));
  CHECK(verdict("a = \"\"\"\n\"\"\"\"\"\"\u4E2D\"") == "passes");  // in a second string, which is an error of its own
  CHECK(refused("a = \"\"\"b \\\n\n  \u4E2D\"\"\"", "3: a character outside of ASCII follows a backslash"));
  CHECK(verdict("a = \"\"\"b \\n\n  \u4E2D\"\"\"") == "passes");
}

TEST_CASE("brackets come in pairs") {
  CHECK(refused("a = [1}", "1: a bracket closes"));
  CHECK(refused("a = {b = 1\n]", "2: a bracket closes"));
  CHECK(refused("a = 1]", "1: a bracket closes"));
}

TEST_CASE("numbers are bounded, stand alone, and dates have whole times") {
  CHECK(refused("a = " + std::string(51, '1'), "1: a number of more than 50"));
  CHECK(verdict("a = " + std::string(50, '1')) == "passes");
  CHECK(refused("a = [1, 2 3]", "1: two numbers side by side"));
  CHECK(refused("a = 1T", "1: a date without its time"));
  CHECK(refused("a = -0tx", "1: a date without its time"));
}

TEST_CASE("nothing is nested deeper than the readers take") {
  std::string dots = "a";
  for (int k = 0; k < 32; ++k) dots += ".a";
  const std::string half = dots.substr(0, dots.size() / 2 - 3);  // of header, key and inline table together
  CHECK(verdict("[" + half + "]\n" + half + " = 1") == "passes");
  for (const std::string& text :
       {"[" + dots + ".a]", dots + ".a = 1", "b = {" + dots + ".a = 1}",
        "[" + half + "]\n" + half + " = {" + half + " = 1}", "b = " + std::string(33, '[') + std::string(33, ']')}) {
    CAPTURE(text);
    const std::optional<TomlFault> fault = toml_fault(text);
    REQUIRE(fault.has_value());
    CHECK(fault->code == std::string("P018"));
  }
  CHECK(verdict("b = " + std::string(32, '[') + std::string(32, ']')) == "passes");
}

}  // namespace debubble
