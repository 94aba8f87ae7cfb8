// Schedule tables that are none: refused with the exact words, row and cell.
#include <doctest/doctest.h>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

TEST_CASE("an empty table is refused") {
  const Folder folder;
  folder.write("t.csv", "");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv"}) == R"(error[P016]: the table holds no ops
  --> t.csv
  = help: one row per device
)");
  folder.write("b.csv", R"(

)");
  CHECK(folder.refusal({"simulate", "--schedule", "b.csv"}) == R"(error[P016]: the table holds no ops
  --> b.csv
  = help: one row per device
)");
  folder.write("c.csv", R"(,,,
)");
  CHECK(folder.refusal({"simulate", "--schedule", "c.csv"}) == R"(error[P016]: the table holds no ops
  --> c.csv
  = help: one row per device
)");
}

TEST_CASE("an op that stands twice is refused") {
  const Folder folder;
  folder.write("t.csv", R"(0F0,0F0,0B0
1F0,1B0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv"}) ==
        R"(error[T003]: 0F0 is in the schedule twice (0F0: row 1, cell 1)
  --> t.csv:1:2
  = help: every op runs exactly once
)");
}

TEST_CASE("a gap in the numbers is refused") {
  const Folder folder;
  folder.write("t.csv", R"(0F0,0B0
2F0,2B0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv"}) == R"(error[T030]: stage 1 is missing, and 2F0 names stage 2
  --> t.csv:2:1
  = help: stages are numbered from 0 without gaps
)");
  folder.write("m.csv", R"(0F0,0F2,0B0,0B2
)");
  CHECK(folder.refusal({"simulate", "--schedule", "m.csv"}) ==
        R"(error[T030]: microbatch 1 is missing, and 0F2 names microbatch 2
  --> m.csv:1:2
  = help: microbatches are numbered from 0 without gaps
)");
}

TEST_CASE("a missing forward or backward is refused") {
  const Folder folder;
  folder.write("t.csv", R"(0F0
1F0,1B0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv"}) ==
        R"(error[T004]: the backward after 0F0 is missing: neither 0B0, nor 0I0 and 0W0
  --> t.csv:1
  = help: add 0B0, or 0I0 and 0W0, after 0F0
)");
  folder.write("f.csv", R"(0F0,0B0
1B0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "f.csv"}) ==
        R"(error[T004]: 1F0 is missing, though the backward of stage 1 runs on microbatch 0
  --> f.csv:2
)");
  folder.write("i.csv", R"(0F0,0I0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "i.csv"}) == R"(error[T004]: 0I0 is half a backward: 0W0 is missing
  --> i.csv:1:2
  = help: run both I and W, or B alone
)");
  folder.write("w.csv", R"(0F0,0B0,0W0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "w.csv"}) ==
        R"(error[T007]: 0W0 repeats a part of 0B0, the whole backward (0B0: row 1, cell 2)
  --> w.csv:1:3
  = help: B is the whole backward, I and W its halves; older PyTorch tables write B for I and BW for B: rename B to I, then BW to B
)");
}

TEST_CASE("rows that wait for each other are refused") {
  const Folder folder;
  folder.write("t.csv", R"(0F0,,0B0,0F1,0B1
1F1,1F0,1B0,1B1
)");
  CHECK(
      folder.refusal({"simulate", "--schedule", "t.csv"}) ==
      R"(error[T011]: the devices wait for each other: 0B0 (row 1, cell 3) needs 1B0, which row 2 has after 1F1; 1F1 (row 2, cell 1) needs 0F1, which row 1 has after 0B0
  --> t.csv:1:3
  = help: each device runs its row strictly in order: reorder one of these rows
)");
}

TEST_CASE("a row that waits for itself is refused") {
  const Folder folder;
  folder.write("t.csv", R"(0B0,0F0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv"}) ==
        R"(error[T009]: 0B0 needs 0F0, which comes later in the same row (0F0: row 1, cell 2)
  --> t.csv:1:1
  = help: a device runs its row strictly in order
)");
}

TEST_CASE("an op on two devices is refused") {
  const Folder folder;
  folder.write("t.csv", R"(0F0,1B0
1F0,0B0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv"}) ==
        R"(error[T008]: 1B0 is on device 0, but stage 1 of microbatch 0 belongs to device 1 (1F0: row 2, cell 1)
  --> t.csv:1:2
  = help: a microbatch runs forward and backward of a stage on the one device that holds it
error[T008]: 0B0 is on device 1, but stage 0 of microbatch 0 belongs to device 0 (0F0: row 1, cell 1)
  --> t.csv:2:2
  = help: a microbatch runs forward and backward of a stage on the one device that holds it
2 errors
)");
}

TEST_CASE("garbage and what follows an action is refused") {
  const Folder folder;
  folder.write("t.csv", R"(0F0,hello
)");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv"}) == R"(error[T024]: "hello" is not an action
  --> t.csv:1:2
  = help: a cell is <stage><F|B|I|W><microbatch>, like 3F12, or (3F12;4B7)OVERLAP_F_B, or empty
)");
  folder.write("x.csv", R"(0F0,0B0x
)");
  CHECK(folder.refusal({"simulate", "--schedule", "x.csv"}) ==
        R"(error[T024]: "0B0x" is not an action: "x" follows "0B0"
  --> x.csv:1:2
  = help: PyTorch's parser ignores what follows an action; here a cell must match in full
)");
  folder.write("q.csv", R"("0F0",0B0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "q.csv"}) == R"(error[T024]: ""0F0"" has a quotation mark
  --> q.csv:1:1
  = help: cells are not quoted in this format
)");
  folder.write("h.csv", R"(time,device
0F0,0B0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "h.csv"}) == R"(error[T024]: "time" is not an action
  --> h.csv:1:1
  = help: a cell is <stage><F|B|I|W><microbatch>, like 3F12, or (3F12;4B7)OVERLAP_F_B, or empty
error[T024]: "device" is not an action
  --> h.csv:1:2
  = help: a cell is <stage><F|B|I|W><microbatch>, like 3F12, or (3F12;4B7)OVERLAP_F_B, or empty
2 errors
)");
}

TEST_CASE("a table with communication actions is read as compute_comms, and a send to nobody is refused") {
  const Folder folder;
  folder.write("t.csv", R"(0F0,0SEND_F0,0B0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv"}) ==
        R"(error[T045]: 0SEND_F0 has no stage at its other end
  --> t.csv:1:2
  = help: the last stage sends no outputs and receives no gradients
)");
}

TEST_CASE("the older grammar is refused by its BW") {
  const Folder folder;
  folder.write("t.csv", R"(0F0,0BW0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv"}) ==
        R"(error[T024]: "0BW0" is of the older grammar; PyTorch's parser now reads it as "0B", without a microbatch
  --> t.csv:1:2
  = help: older tables write B for the input gradient and BW for the whole backward: rename B to I, then BW to B
)");
}

TEST_CASE("numbers too large are refused") {
  const Folder folder;
  folder.write("t.csv", R"(0F99999999999,0B0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv"}) ==
        R"(error[T002]: "0F99999999999" has a microbatch number that is too large
  --> t.csv:1:1
  = help: the largest is 2147483646
)");
}

TEST_CASE("malformed overlapped pairs are refused") {
  const Folder folder;
  folder.write("t.csv", R"((0F0;0B0)OVERLAP
)");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv"}) ==
        R"(error[T024]: "(0F0;0B0)OVERLAP" is not an overlapped pair: "OVERLAP" where "OVERLAP_F_B" is expected
  --> t.csv:1:1
  = help: write it as (3F12;4B7)OVERLAP_F_B
)");
  folder.write("o.csv", R"((0F0)OVERLAP_F_B,0B0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "o.csv"}) ==
        R"(error[T024]: "(0F0)OVERLAP_F_B" is not an overlapped pair: it has 1 member
  --> o.csv:1:1
  = help: write it as (3F12;4B7)OVERLAP_F_B
)");
}

TEST_CASE("all problems of a table are said at once") {
  const Folder folder;
  folder.write("t.csv", R"(0F0,x,0F0
1BW0,1F0
1I0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv"}) == R"(error[T024]: "x" is not an action
  --> t.csv:1:2
  = help: a cell is <stage><F|B|I|W><microbatch>, like 3F12, or (3F12;4B7)OVERLAP_F_B, or empty
error[T003]: 0F0 is in the schedule twice (0F0: row 1, cell 1)
  --> t.csv:1:3
  = help: every op runs exactly once
error[T024]: "1BW0" is of the older grammar; PyTorch's parser now reads it as "1B", without a microbatch
  --> t.csv:2:1
  = help: older tables write B for the input gradient and BW for the whole backward: rename B to I, then BW to B
error[T008]: 1I0 is on device 2, but stage 1 of microbatch 0 belongs to device 1 (1F0: row 2, cell 2)
  --> t.csv:3:1
  = help: a microbatch runs forward and backward of a stage on the one device that holds it
4 errors
)");
}

TEST_CASE("flags that contradict the table are refused") {
  const Folder folder;
  folder.write("t.csv", R"(0F0,0B0
1F0,1B0
)");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv", "-p", "4"}) ==
        R"(error[C001]: t.csv has 2 devices (rows), but --devices says 4
  --> --devices
  = help: leave out --devices
)");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv", "-m", "8"}) ==
        R"(error[C001]: t.csv has 1 microbatches, but --microbatches says 8
  --> --microbatches
  = help: leave out --microbatches
)");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv", "-v", "2"}) ==
        R"(error[C001]: t.csv has 1 stages per device, but --chunks says 2
  --> --chunks
  = help: leave out --chunks
)");
  CHECK(folder.refusal({"simulate", "--schedule", "t.csv", "--param", "group=2"}) ==
        R"(error[S002]: a schedule read from a table takes no parameters
  --> --param
  = help: leave --param out
)");
  CHECK(folder.refusal({"export", "--to", "chrome-trace", "--schedule", "t.csv", "-p", "3"}) ==
        R"(error[C001]: t.csv has 2 devices (rows), but --devices says 3
  --> --devices
  = help: leave out --devices
)");
}

TEST_CASE("a table that cannot be read is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--schedule", "missing.csv"}) ==
        R"(error[C005]: cannot read missing.csv: No such file or directory
  --> --schedule
  = help: check the path and its permissions
)");
  CHECK(folder.refusal({"compare", "--schedule", "1f1b,missing.csv"}) ==
        R"(error[C005]: cannot read missing.csv: No such file or directory
  --> --schedule
  = help: check the path and its permissions
)");
  CHECK(folder.refusal({"simulate", "--schedule", "./"}) == R"(error[C005]: cannot read ./: Is a directory
  --> --schedule
  = help: check the path and its permissions
)");
}

TEST_CASE("a table is compared only with runs of its size") {
  const Folder folder;
  folder.write("t.csv", R"(0F0,0B0
1F0,1B0
)");
  CHECK(folder.refusal({"compare", "--schedule", "t.csv,1f1b"}) ==
        R"(error[C001]: t.csv runs -p 2 -m 1, 1f1b -p 4 -m 8: their step times do not compare
  --> --schedule
  = help: give the table's numbers to all, with -p and -m
)");
}

}  // namespace
}  // namespace debubble::testing
