// What a person sees: no line is wider than asked for.
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

std::string profile_file() { return debubble::testing::source_directory() + "/traces/published/zb-a100-1.5b-m24.json"; }

// The first line of more than `width` characters, escapes not counted; "" when there is none.
std::string too_wide(std::string_view text, int width) {
  std::string line;
  int columns = 0;
  bool escape = false;
  for (const char c : text) {
    if (c == '\n') {
      if (columns > width) return line;
      line.clear();
      columns = 0;
      continue;
    }
    line += c;
    if (c == '\x1b') escape = true;
    const bool continues = (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
    if (!escape && !continues) ++columns;
    if (escape && c == 'm') escape = false;
  }
  return columns > width ? line : "";
}

TEST_CASE_IN_FOLDER("the help of every verb fits 80 columns") {
  const std::string overview = folder.data({"--help"});
  CHECK(too_wide(overview, 80) == "");
  int verbs = 0;
  // Lines like "  simulate  one schedule: ...", between "Verbs:" and the empty line.
  std::istringstream lines(overview.substr(overview.find("Verbs:")));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && !line.empty()) {
    const std::string verb = line.substr(2, line.find(' ', 2) - 2);
    CAPTURE(verb);
    const std::string help = folder.data({verb, "--help"});
    CHECK(too_wide(help, 80) == "");
    // What has no flag is called in capitals, as the values of flags are.
    std::istringstream usage(help.substr(help.find("[OPTIONS]")));
    std::getline(usage, line);
    CHECK(std::none_of(line.begin(), line.end(), [](char c) { return c >= 'a' && c <= 'z'; }));
    ++verbs;
  }
  CHECK(verbs == 15);
}

// Without the lines that are one argument of a suggested command, which is never cut: "         /a/long/path.json \".
std::string without_lone_arguments(const std::string& text) {
  std::istringstream lines(text);
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    const std::size_t end = line.ends_with(" \\") ? line.size() - 2 : line.size();
    const bool lone = begin == 9 && line.substr(begin, end - begin).find(' ') == std::string::npos;
    if (!lone) rest += line + "\n";
  }
  return rest;
}

TEST_CASE("the measure of lines counts characters, not bytes and not colours") {
  CHECK(too_wide("abc\nab\n", 3).empty());
  CHECK(too_wide("abcd\nab\n", 3) == "abcd");
  CHECK(too_wide("ab\nabcd", 3) == "abcd");
  CHECK(too_wide("\x1b[31mabc\x1b[0m\n\u00b5\u00b5\u00b5\n", 3).empty());
  CHECK_FALSE(too_wide("\x1b[31mabcd\x1b[0m", 3).empty());
}

TEST_CASE_IN_FOLDER("no line of text is wider than --width") {
  const std::vector<Words> commands{
      {"simulate"},
      {"simulate", "--schedule", "zb-h1", "-p", "16", "-m", "64", "--comm", "0.1"},
      {"simulate", "--schedule", "interleaved", "-p", "8", "-m", "32", "-v", "4"},
      {"simulate", "--schedule", "chimera", "--p2p", "blocking", "--comm", "1"},
      {"simulate", "-p", "8", "-m", "200"},
      {"simulate", "-p", "1", "-m", "1"},
      {"simulate", "--schedule", "zb-h1", "-p", "8", "-m", "24", "--profile", profile_file()},
      {"simulate", "--schedule", "interleaved", "--p2p", "coupled"},
      {"simulate", "--schedule", "zb-v", "--p2p", "coupled"},
      {"compare"},
      {"compare", "-p", "3", "-m", "10"},
      {"compare", "-p", "8", "-m", "24", "--profile", profile_file()},
      {"compare", "--p2p", "coupled"},
      {"list"},
      {"list", "topologies"},
      {"list", "cost-models"},
      {"doctor"}};
  for (const Words& command : commands) {
    for (const int width : {40, 60, 80, 120}) {
      for (const char* color : {"never", "always"}) {
        Words words = command;
        words.insert(words.end(), {"--width", std::to_string(width), "--color", color});
        std::string said;
        for (const std::string& word : words) said += word + " ";
        CAPTURE(said);
        CHECK(too_wide(without_lone_arguments(folder.run(words).out), width) == "");
      }
    }
  }
}

}  // namespace
}  // namespace debubble::testing
