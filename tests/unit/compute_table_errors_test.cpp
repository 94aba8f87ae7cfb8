#include "schedules/exchange/compute_table.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

// "T024 t.csv:1:2 message | help", one line per problem; "" when the table is fine.
std::string problems_of(std::string_view text) {
  std::string problems;
  try {
    (void)read_compute_table(text, "t.csv");
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) {
      problems += d.code + " " + d.place + " " + d.message + (d.help.empty() ? "" : " | " + d.help) + "\n";
    }
  }
  return problems;
}

constexpr const char* kGrammar =
    " | a cell is <stage><F|B|I|W><microbatch>, like 3F12, or (3F12;4B7)OVERLAP_F_B, or empty\n";
constexpr const char* kPair = " | write it as (3F12;4B7)OVERLAP_F_B\n";
constexpr const char* kPrefix = " | PyTorch's parser ignores what follows an action; here a cell must match in full\n";
constexpr const char* kCompute =
    " | give the compute_only table, which has F, B, I and W alone: transfers follow from it\n";
constexpr const char* kOrder = " | a device runs its row strictly in order\n";

TEST_CASE("a table without ops is refused") {
  for (const char* text : {"", "\n", "\r\n", " , ,\n,,\n", "   "}) {
    CAPTURE(text);
    CHECK(problems_of(text) == "P016 t.csv the table holds no ops | one row per device\n");
  }
}

TEST_CASE("a row without ops is refused, wherever it stands") {
  const std::string row = " the row holds no ops | every row is one device: give it ops or delete the line\n";
  CHECK(problems_of("\n0F0,0B0\n") == "P016 t.csv:1" + row);
  CHECK(problems_of("0F0,0B0\n\n") == "P016 t.csv:2" + row);
  CHECK(problems_of("0F0,0B0\n,,\n1F0,1B0") == "P016 t.csv:2" + row);
}

TEST_CASE("bytes that do not belong into a table are refused") {
  CHECK(problems_of(std::string_view("0F0,0B0\0\n", 9)) ==
        "G024 t.csv:1:2 a NUL byte | save the table as plain ASCII or UTF-8 text\n");
  CHECK(problems_of("0F0,0B0\r1F0,1B0\n") ==
        "G024 t.csv:1:2 a carriage return that no line feed follows | end lines with LF or CRLF\n");
  CHECK(problems_of("0F0,0B0\r") ==
        "G024 t.csv:1:2 a carriage return that no line feed follows | end lines with LF or CRLF\n");
  CHECK(problems_of("\xef\xbb\xbf"
                    "0F0,0B0\n") == "G024 t.csv:1:1 a byte order mark | save the table as UTF-8 without one\n");
}

TEST_CASE("quotation marks are refused, balanced or not") {
  CHECK(problems_of("\"0F0\",0B0\n") ==
        "T024 t.csv:1:1 \"\"0F0\"\" has a quotation mark | cells are not quoted in this format\n");
  CHECK(problems_of("0F0,\"0B0\n") ==
        "T024 t.csv:1:2 \"\"0B0\" has a quotation mark | cells are not quoted in this format\n");
}

TEST_CASE("cells that are not actions are refused with their row and cell") {
  CHECK(problems_of("0F0,,hello,0B0\n") == std::string("T024 t.csv:1:3 \"hello\" is not an action") + kGrammar);
  CHECK(problems_of("0F0,0B0\n1f0,1B0\n") == std::string("T024 t.csv:2:1 \"1f0\" is not an action") + kGrammar);
  CHECK(problems_of("0F0,0X0\n") == std::string("T024 t.csv:1:2 \"0X0\" is not an action") + kGrammar);
  CHECK(problems_of("-1F0,0B0\n") == std::string("T024 t.csv:1:1 \"-1F0\" is not an action") + kGrammar);
  CHECK(problems_of("F0,0B0\n") == std::string("T024 t.csv:1:1 \"F0\" is not an action") + kGrammar);
  CHECK(problems_of("0F0,0\n") == std::string("T024 t.csv:1:2 \"0\" is not an action") + kGrammar);
  CHECK(problems_of("0F0,\xc3\xa9\x1b[31m\n") ==
        std::string("T024 t.csv:1:2 \"\\xc3\\xa9\\x1b[31m\" is not an action") + kGrammar);
  CHECK(problems_of(std::string(100, 'x') + "\n") ==
        "T024 t.csv:1:1 \"" + std::string(40, 'x') + "...\" is not an action" + kGrammar);
}

TEST_CASE("text after an action is refused, which PyTorch's parser would ignore") {
  CHECK(problems_of("0F0,0B0x\n") ==
        std::string("T024 t.csv:1:2 \"0B0x\" is not an action: \"x\" follows \"0B0\"") + kPrefix);
  CHECK(problems_of("0F0 0B0\n") ==
        std::string("T024 t.csv:1:1 \"0F0 0B0\" is not an action: \" 0B0\" follows \"0F0\"") + kPrefix);
  CHECK(problems_of("0F-1,0B0\n") ==
        std::string("T024 t.csv:1:1 \"0F-1\" is not an action: \"-1\" follows \"0F\"") + kPrefix);
  CHECK(problems_of("0F0;0B0\n") ==
        std::string("T024 t.csv:1:1 \"0F0;0B0\" is not an action: \";0B0\" follows \"0F0\"") + kPrefix);
}

TEST_CASE("numbers that are too large are refused, the largest is not") {
  CHECK(problems_of("99999999999F0,0B99999999999999999999\n") ==
        "T002 t.csv:1:1 \"99999999999F0\" has a stage number that is too large | the largest is 2147483646\n"
        "T002 t.csv:1:2 \"0B99999999999999999999\" has a microbatch number that is too large | the largest is "
        "2147483646\n");
  CHECK(problems_of("2147483647F0,0F0,0B0\n") ==
        "T002 t.csv:1:1 \"2147483647F0\" has a stage number that is too large | the largest is 2147483646\n");
  CHECK(problems_of("0F0,0B0,2147483646F0\n") ==
        "T030 t.csv:1:3 stages 1 to 2147483645 are missing, and 2147483646F0 names stage 2147483646 | stages are "
        "numbered from 0 without gaps\n");
}

TEST_CASE("the older grammar is recognised by its BW") {
  CHECK(problems_of("0F0,0BW0\n") ==
        "T024 t.csv:1:2 \"0BW0\" is of the older grammar; PyTorch's parser now reads it as \"0B\", without a "
        "microbatch | "
        "older tables write B for the input gradient and BW for the whole backward: rename B to I, then BW to B\n");
}

TEST_CASE("communication actions are refused by name") {
  for (const char* action : {"0SEND_F0", "0RECV_B12", "0UNSHARD", "0RESHARD", "0REDUCE_GRAD", "1RECV_F0", "1SEND_B0"}) {
    CHECK(problems_of(std::string("0F0,") + action + ",0B0\n") ==
          std::string("T024 t.csv:1:2 \"") + action + "\" is a communication action; this is a compute_comms table" +
              kCompute);
  }
}

TEST_CASE("overlapped pairs must be pairs") {
  const auto pair = [](const std::string& cell, const std::string& what) {
    return "T024 t.csv:1:1 \"" + cell + "\" is not an overlapped pair: " + what + kPair;
  };
  CHECK(problems_of("(0F0;0B0)\n") == pair("(0F0;0B0)", "\"OVERLAP_F_B\" is missing after \")\""));
  CHECK(problems_of("(0F0;0B0)OVERLAP\n") == pair("(0F0;0B0)OVERLAP", "\"OVERLAP\" where \"OVERLAP_F_B\" is expected"));
  CHECK(problems_of("(0F0;0B0)OVERLAP_F_Bx\n") ==
        pair("(0F0;0B0)OVERLAP_F_Bx", "\"OVERLAP_F_Bx\" where \"OVERLAP_F_B\" is expected"));
  CHECK(problems_of("()OVERLAP_F_B\n") == pair("()OVERLAP_F_B", "it has no members"));
  CHECK(problems_of("(0F0)OVERLAP_F_B\n") == pair("(0F0)OVERLAP_F_B", "it has 1 member"));
  CHECK(problems_of("(0F0;0B0;0F1)OVERLAP_F_B\n") == pair("(0F0;0B0;0F1)OVERLAP_F_B", "it has 3 members"));
  CHECK(problems_of("((0F0;0B0)OVERLAP_F_B;0F1)OVERLAP_F_B\n") ==
        pair("((0F0;0B0)OVERLAP_F_B;0F1)OVERLAP_F_B", "pairs do not nest"));
  CHECK(problems_of("(0F0;0B0\n") == pair("(0F0;0B0", "the closing \")\" is missing"));
  CHECK(problems_of("(\n") == pair("(", "the closing \")\" is missing"));
  CHECK(problems_of("(0F0;)OVERLAP_F_B\n") == std::string("T024 t.csv:1:1 \"\" is not an action") + kGrammar);
  CHECK(problems_of("(0F0;0SEND_F0)OVERLAP_F_B\n") ==
        std::string("T024 t.csv:1:1 \"0SEND_F0\" is a communication action; this is a compute_comms table") + kCompute);
}

TEST_CASE("an action without its microbatch is refused") {
  CHECK(problems_of("0F,0B0\n") ==
        "T024 t.csv:1:1 \"0F\" names no microbatch | write the microbatch's number after the letter, like 3F12\n");
}

TEST_CASE("gaps in the numbers are refused once, not once for every op that is missing") {
  CHECK(problems_of("0F0,0B0\n2F0,2B0\n") ==
        "T030 t.csv:2:1 stage 1 is missing, and 2F0 names stage 2 | stages are numbered from 0 without gaps\n");
  CHECK(problems_of("0F1,0F4,0B1,0B4\n") ==
        "T030 t.csv:1:1 microbatch 0 is missing, and 0F1 names microbatch 1 | microbatches are numbered from 0 without "
        "gaps\n"
        "T030 t.csv:1:2 microbatches 2 to 3 are missing, and 0F4 names microbatch 4 | microbatches are numbered from 0 "
        "without gaps\n");
}

TEST_CASE("ops that are twice in the table are refused with both places") {
  CHECK(problems_of("0F0,,0F0,0B0\n1F0,1B0,1B0\n") ==
        "T003 t.csv:1:3 0F0 is in the schedule twice (0F0: row 1, cell 1) | every op runs exactly once\n"
        "T003 t.csv:2:3 1B0 is in the schedule twice (1B0: row 2, cell 2) | every op runs exactly once\n");
}

TEST_CASE("missing forwards and backwards are refused with the row where they belong") {
  CHECK(problems_of("0F0,0B0\n1B0\n") ==
        "T004 t.csv:2 1F0 is missing, though the backward of stage 1 runs on microbatch 0\n");
  CHECK(problems_of("0F0,0B0\n1F0\n") ==
        "T004 t.csv:2 the backward after 1F0 is missing: neither 1B0, nor 1I0 and 1W0 | add 1B0, or 1I0 and "
        "1W0, after 1F0\n");
  CHECK(problems_of("0F0,0F1,0B0,0B1\n1F0,1B0\n") ==
        "T004 t.csv stage 1 never runs microbatch 1: 1F1 and its backward are missing\n");
}

TEST_CASE("a backward must be whole or split, and complete") {
  CHECK(problems_of("0F0,0I0\n") ==
        "T004 t.csv:1:2 0I0 is half a backward: 0W0 is missing | run both I and W, or B alone\n");
  CHECK(problems_of("0F0,0W0\n") ==
        "T004 t.csv:1:2 0W0 is half a backward: 0I0 is missing | run both I and W, or B alone\n");
  CHECK(problems_of("0F0,0B0,0I0,0W0\n") ==
        "T007 t.csv:1:3 0I0 repeats a part of 0B0, the whole backward (0B0: row 1, cell 2) | run either B, or I and W\n"
        "T007 t.csv:1:4 0W0 repeats a part of 0B0, the whole backward (0B0: row 1, cell 2) | run either B, or I and "
        "W\n");
}

TEST_CASE("a stage of one microbatch cannot be on two devices") {
  CHECK(problems_of("0F0,1B0\n1F0,0B0\n") ==
        "T008 t.csv:1:2 1B0 is on device 0, but stage 1 of microbatch 0 belongs to device 1 (1F0: row 2, cell 1) | a "
        "microbatch runs forward and backward of a stage on the one device that holds it\n"
        "T008 t.csv:2:2 0B0 is on device 1, but stage 0 of microbatch 0 belongs to device 0 (0F0: row 1, cell 1) | a "
        "microbatch runs forward and backward of a stage on the one device that holds it\n");
}

TEST_CASE("rows that need their own later ops are refused") {
  CHECK(problems_of("0B0,,0F0\n") ==
        std::string("T009 t.csv:1:1 0B0 needs 0F0, which comes later in the same row (0F0: row 1, cell 3)") + kOrder);
  CHECK(problems_of("0F0,0W0,0I0\n") ==
        std::string("T009 t.csv:1:2 0W0 needs 0I0, which comes later in the same row (0I0: row 1, cell 3)") + kOrder);
}

TEST_CASE("a deadlock between devices is refused and names the cycle") {
  CHECK(problems_of("0F0,,0B0,0F1,0B1\n1F1,1F0,1B0,1B1\n") ==
        "T011 t.csv:1:3 the devices wait for each other: 0B0 (row 1, cell 3) needs 1B0, which row 2 has after 1F1; "
        "1F1 (row 2, cell 1) needs 0F1, which row 1 has after 0B0 | each device runs its row strictly in order: "
        "reorder one of these rows\n");
}

TEST_CASE("fifty problems are shown and the rest is counted") {
  std::string text;
  for (int i = 0; i < 63; ++i) text += "x,";
  const std::string problems = problems_of(text);
  CHECK(std::count(problems.begin(), problems.end(), '\n') == 51);
  CHECK(problems.ends_with("T024 t.csv:1:50 \"x\" is not an action" + std::string(kGrammar) +
                           "P022 t.csv and 13 more problems | fix the first ones and read again\n"));
  CHECK(problems_of(text.substr(0, 51 * 2 - 1))
            .ends_with("P022 t.csv and 1 more problem | fix the first ones and read "
                       "again\n"));
  CHECK(problems_of(text.substr(0, 50 * 2 - 1))
            .ends_with("T024 t.csv:1:50 \"x\" is not an action" + std::string(kGrammar)));
}

TEST_CASE("a table with numbers far apart costs no memory") {
  CHECK(problems_of("0F0,0B0,1000000000F1000000000\n") ==
        "T030 t.csv:1:3 stages 1 to 999999999 are missing, and 1000000000F1000000000 names stage 1000000000 | stages "
        "are numbered from 0 without gaps\n"
        "T030 t.csv:1:3 microbatches 1 to 999999999 are missing, and 1000000000F1000000000 names microbatch 1000000000 "
        "| microbatches are numbered from 0 without gaps\n");
}

TEST_CASE("a table with almost no ops for its numbers is refused in one sentence") {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += std::to_string(i) + "F" + std::to_string(i) + ",";
  CHECK(problems_of(text) ==
        "T004 t.csv 3000 ops cannot be a whole schedule of 3000 stages and 3000 microbatches, which takes at least two "
        "for each stage and microbatch\n");
}

}  // namespace
}  // namespace debubble
