// Assumptions in brief: what a heading leaves to the lists and to JSON.
#include "formats/text/printable.hpp"
#include "formats/text/shell.hpp"
#include "sim/topologies/catalog.hpp"
#include "tests/support/test.hpp"
#include "tools/views/assumption_lines.hpp"

namespace debubble::testing {
namespace {

std::string lines(const std::vector<Assumption>& assumptions) {
  std::string text;
  for (const BriefAssumption& one : brief_assumptions(assumptions)) {
    text += std::string(to_string(one.source)) + ": " + one.what + " " + one.amount + "\n";
  }
  return text;
}

std::vector<Assumption> on(const std::string& topology) {
  std::vector<Assumption> all{{"topology", topology, Source::kGiven}};
  for (const Assumption& rate : describe_topology(topology).assumptions) all.push_back(rate);
  return all;
}

}  // namespace

TEST_CASE("a topology's numbers stand together by their names, without who says so") {
  CHECK(lines(on("dgx-h100:8")) ==
        "given: topology dgx-h100:8\n"
        "published: dgx-h100 bandwidth 370.8 GB/s, latency 936 ns, pcie 50 GB/s, nic 48 GB/s, nic-latency 500 ns\n"
        "modelled: dgx-h100 pcie-latency 500 ns\n");
}

TEST_CASE("what was typed with the topology is not repeated, and a default that matters stays") {
  CHECK(lines(on("ring:4,latency=1us")) ==
        "given: topology ring:4,latency=1us\n"
        "default: ring bandwidth 50 GB/s\n");
  CHECK(lines(on("fat-tree:64,oversubscription=2")) ==
        "given: topology fat-tree:64,oversubscription=2\n"
        "published: fat-tree bandwidth 48 GB/s\n"
        "modelled: fat-tree latency 500 ns\n"
        "default: fat-tree leaf 32\n");
}

TEST_CASE("citations are left out, and so is what is typed with a topology or has no effect") {
  Assumption model{.key = "model", .amount = "llama3-70b, with layers=2", .source = Source::kPublished};
  model.citation = "A. Author, 2024, table 3";
  Assumption latency{.key = "transfer latency in addition to the links", .amount = "0 ns"};
  latency.changes_result = false;
  CHECK(lines({model, latency}) == "published: model llama3-70b, with layers=2\n");
  CHECK(full_text(model) == "llama3-70b, with layers=2 (A. Author, 2024, table 3)");

  const Assumption measured{.key = "bandwidth",
                            .amount = "1 GB/s",
                            .source = Source::kMeasured,
                            .subject = "ring",
                            .meaning = "of a link",
                            .changes_result = false};  // no default: who says so is worth a word
  Assumption given = measured;
  given.source = Source::kGiven;
  CHECK(lines({measured, given}) == "measured: ring bandwidth 1 GB/s\n");
}

// Commands that are printed to be typed again.

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

TEST_CASE("what begins like a flag is none") {
  FlagLine line;
  line.add("--profile", "-x.json");
  line.add("--topology", "-");
  CHECK(line.text() == "--profile=-x.json --topology=-");
  CHECK(shell_file("-x.json") == "./-x.json");
  CHECK(shell_file("- x.json") == "'./- x.json'");
  CHECK(shell_file("-") == "-");
  CHECK(shell_file("x-y.json") == "x-y.json");
}

TEST_CASE("an argument that printing would change is quoted by its bytes") {
  CHECK(shell_quoted("a\nb") == "$'a\\012b'");
  CHECK(shell_quoted("it's\x1b[31m\\") == "$'it\\'s\\033[31m\\\\'");
  CHECK(shell_quoted("\u202ex") == "$'\\342\\200\\256x'");
  CHECK(shell_quoted("Zürich") == "Zürich");
}

TEST_CASE("foreign text shows what it holds, on one line") {
  CHECK(printable("plain, Zürich, 東京, 👩\u200d💻, a\u200cb") == "plain, Zürich, 東京, 👩\u200d💻, a\u200cb");
  CHECK(printable(std::string_view("a\n::error::b\r\t\0\x7f", 16)) == "a\\x0a::error::b\\x0d\\x09\\x00\\x7f");
  CHECK(printable("\x1b[31m") == "\\x1b[31m");
  CHECK(printable("\u0085\u009b31m") == "\\u0085\\u009b31m");
  CHECK(printable("\u202egpj\u2066\u200f\u061c") == "\\u202egpj\\u2066\\u200f\\u061c");
  CHECK(printable("\ufeff\u200b\u2028\U000e0041") == "\\ufeff\\u200b\\u2028\\U000e0041");
  CHECK(printable("\x9b\xff"
                  "a\xe6\x9d") ==
        "\\x9b\\xff"
        "a\\xe6\\x9d");
}

TEST_CASE("lines of ours keep their ends, and their colours where there are any") {
  CHECK(printable_lines("a\nb\tc\n", false) == "a\nb\tc\n");
  CHECK(printable_lines("\x1b[1;31mred\x1b[0m\r\n", true) == "\x1b[1;31mred\x1b[0m\\x0d\n");
  CHECK(printable_lines("\x1b[1;31mred\x1b[0m", false) == "\\x1b[1;31mred\\x1b[0m");
  CHECK(printable_lines("\x1b[2J\x1b[8mhidden\x1b]0;title\a", true) == "\\x1b[2J\\x1b[8mhidden\\x1b]0;title\\x07");
}

}  // namespace debubble::testing
