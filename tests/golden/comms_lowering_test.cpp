// The numbers and rows of PyTorch's own tests of its lowering passes (test/distributed/pipelining/test_schedule.py).
#include "schedules/exchange/comms_lowering.hpp"
#include "schedules/catalog.hpp"
#include "schedules/exchange/comms_table.hpp"
#include "schedules/exchange/compute_table.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

// Blanks for commas, so that rows read as in the source.
std::string rows_of(const ActionTable& table) {
  std::string text = write_action_table(table);
  std::replace(text.begin(), text.end(), ',', ' ');
  return text;
}

ActionTable table_of(const std::string& text) { return read_action_table(text, "golden"); }

TEST_CASE("two devices, two stages, two microbatches: 11 steps") {
  const ActionTable table = table_of("0F0,0F1,,0B0,,0B1\n,1F0,1B0,1F1,1B1,\n");
  const ActionTable lowered = add_send_receive(table, {0, 1});
  CHECK(rows_of(lowered) ==
        "0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1\n"
        "1RECV_F0 1RECV_F1 1F0 1B0 1SEND_B0 1F1 1B1 1SEND_B1\n");
  CHECK(dry_run_steps(lowered, {0, 1}) == 11);
}

// The blank takes a turn: without it device 1 begins earlier and its receives stand elsewhere.
TEST_CASE("a V of four stages on two devices: 24 steps, 23 without the leading blank") {
  const std::string first = "0F0,0F1,3F0,3I0,3F1,3I1,0I0,3W0,0I1,3W1,0W0,0W1\n";
  const std::string second = "1F0,2F0,1F1,2F1,2I0,1I0,2I1,1I1,2W0,2W1,1W0,1W1\n";
  const std::vector<std::int32_t> device_of{0, 1, 1, 0};
  const auto steps = [&](const std::string& text) {
    return dry_run_steps(add_send_receive(table_of(text), device_of), device_of);
  };
  CHECK(steps(first + "," + second) == 24);
  CHECK(steps(first + second) == 23);
}

// PyTorch's stored table is what its interleaved zero-bubble generator makes, idle cells included.
TEST_CASE("interleaved zero bubble, two devices of two stages, eight microbatches: 113 steps") {
  const std::string text =
      "0F0,0F1,2F0,,2F1,2I0,2W0,0F2,2I1,2W1,0F3,0I0,0W0,2F2,0I1,0W1,2F3,2I2,2W2,0F4,2I3,2W3,0F5,0I2,0W2,2F4,0I3,0W3,"
      "2F5,2I4,2W4,0F6,2I5,2W5,0F7,0I4,0W4,2F6,0I5,0W5,2F7,2I6,2W6,2I7,2W7,0I6,0W6,0I7,0W7\n"
      ",1F0,1F1,3F0,3I0,3F1,3I1,3W0,1F2,1I0,3W1,1F3,1I1,1W0,3F2,3I2,1W1,3F3,3I3,3W2,1F4,1I2,3W3,1F5,1I3,1W2,3F4,3I4,"
      "1W3,3F5,3I5,3W4,1F6,1I4,3W5,1F7,1I5,1W4,3F6,3I6,1W5,3F7,3I7,3W6,1I6,3W7,1I7,1W6,1W7\n";
  const std::vector<std::int32_t> device_of{0, 1, 0, 1};
  const ActionTable lowered = add_send_receive(merge_backward_halves(table_of(text)), device_of);
  CHECK(dry_run_steps(lowered, device_of) == 113);
}

TEST_CASE("gradients are reduced behind the last backward of a stage") {
  CHECK(rows_of(add_reduce_grad(table_of("0F0,0F1,0B0,0B1\n"), 2, TorchRelease::k2_13)) ==
        "0F0 0F1 0B0 0B1 0REDUCE_GRAD\n");
  CHECK(rows_of(add_reduce_grad(table_of("(0F1;0B0)OVERLAP_F_B,0I1,0W1\n"), 2, TorchRelease::k2_13)) ==
        "(0F1;0B0)OVERLAP_F_B 0I1 0W1 0REDUCE_GRAD\n");
}

TEST_CASE("weights are gathered ahead of their use and given back") {
  CHECK(rows_of(add_unshard_reshard(table_of("0F0,0F1,1F0,1F1,1B0,1B1,0B0,0B1\n"), TorchRelease::k2_13)) ==
        "0UNSHARD 1UNSHARD 0F0 0F1 1F0 1F1 1B0 1B1 1RESHARD 0B0 0B1 0RESHARD\n");
}

// What _dump_csv of PyTorch 2.15.0 writes of a compute_only table. That of 2.13.0 has the same cells without waits,
// some in another order.
void check_releases(const std::string& compute, const std::string& newer) {
  const Schedule schedule = read_compute_table(compute, "golden");
  CHECK(write_action_table(lower_as_pytorch(schedule, "")) == newer);
  ActionTable older = read_action_table(newer, "golden");
  for (auto& row : older) {
    std::erase_if(row, [](const ActionCell& cell) { return is_wait(cell.actions[0].kind); });
  }
  const ActionTable lowered = lower_as_pytorch(schedule, "", TorchRelease::k2_13);
  REQUIRE(lowered.size() == older.size());
  for (std::size_t row = 0; row < older.size(); ++row) {
    REQUIRE(lowered[row].size() == older[row].size());
    CHECK(std::is_permutation(lowered[row].begin(), lowered[row].end(), older[row].begin()));
  }
  const Schedule again = read_comms_table(newer, "golden");
  CHECK(again.rows == schedule.rows);
  CHECK(again.notes.empty());
}

TEST_CASE("PyTorch 2.15 waits for each send and reduction: Interleaved1F1B, two devices of two stages") {
  check_releases(
      "0F0,0F1,2F0,2F1,,,0F2,2B0,0F3,2B1,2F2,0B0,2F3,0B1,,2B2,,2B3,,0B2,,0B3\n"
      ",1F0,1F1,,3F0,3B0,3F1,3B1,1F2,1B0,1F3,1B1,3F2,3B2,3F3,3B3,,1B2,,1B3\n",
      "0UNSHARD,2UNSHARD,0F0,0SEND_F0,2RECV_F0,0F1,0SEND_F1,2RECV_F1,2F0,2SEND_F0,2F1,2SEND_F1,2RECV_B0,0F2,"
      "0SEND_F2,2B0,2WAIT_SEND_F0,2SEND_B0,2RECV_B1,0F3,0SEND_F3,2RECV_F2,2B1,2WAIT_SEND_F1,2SEND_B1,0RECV_B0,"
      "2F2,2SEND_F2,2RECV_F3,0B0,0WAIT_SEND_F0,0RECV_B1,2F3,2SEND_F3,0B1,0WAIT_SEND_F1,2RECV_B2,2B2,"
      "2WAIT_SEND_F2,2SEND_B2,2RECV_B3,2B3,2WAIT_SEND_F3,2SEND_B3,2REDUCE_GRAD,2WAIT_REDUCE_GRAD,2RESHARD,"
      "0RECV_B2,0B2,0WAIT_SEND_F2,0RECV_B3,0B3,0WAIT_SEND_F3,0REDUCE_GRAD,0WAIT_REDUCE_GRAD,0RESHARD,"
      "2WAIT_SEND_B0,2WAIT_SEND_B1,2WAIT_SEND_B2,2WAIT_SEND_B3\n"
      "1UNSHARD,3UNSHARD,1RECV_F0,1F0,1SEND_F0,1RECV_F1,1F1,1SEND_F1,3RECV_F0,3F0,3RECV_F1,3B0,3SEND_B0,"
      "1RECV_F2,3F1,1RECV_B0,3B1,3SEND_B1,1RECV_F3,1F2,1SEND_F2,1RECV_B1,1B0,1WAIT_SEND_F0,1SEND_B0,3RECV_F2,"
      "1F3,1SEND_F3,1B1,1WAIT_SEND_F1,1SEND_B1,3RECV_F3,3F2,3B2,3SEND_B2,1RECV_B2,3F3,3B3,3SEND_B3,1RECV_B3,"
      "3REDUCE_GRAD,3WAIT_REDUCE_GRAD,3RESHARD,1B2,1WAIT_SEND_F2,1SEND_B2,1B3,1WAIT_SEND_F3,1SEND_B3,"
      "1REDUCE_GRAD,1WAIT_REDUCE_GRAD,1RESHARD,3WAIT_SEND_B0,3WAIT_SEND_B1,1WAIT_SEND_B0,1WAIT_SEND_B1,"
      "3WAIT_SEND_B2,3WAIT_SEND_B3,1WAIT_SEND_B2,1WAIT_SEND_B3\n");
}

TEST_CASE(
    "PyTorch 2.15 waits in overlapped pairs, too, and receives stand between a reduction and its wait: DualPipeV") {
  check_releases(
      "0F0,0F1,0F2,3F0,3I0,3W0,3F1,(0F3;3B1)OVERLAP_F_B,(3F2;0B0)OVERLAP_F_B,3B2,(3F3;0B1)OVERLAP_F_B,3B3,0I2,"
      "0W2,0I3,0W3\n"
      "1F0,2F0,1F1,2F1,1F2,2B0,(2F2;1B0)OVERLAP_F_B,(1F3;2B1)OVERLAP_F_B,(2F3;1B1)OVERLAP_F_B,2B2,1B2,2I3,1I3,"
      "2W3,1W3\n",
      "0UNSHARD,3UNSHARD,0F0,0SEND_F0,0F1,0SEND_F1,3RECV_F0,0F2,0SEND_F2,3F0,3RECV_F1,3I0,3SEND_B0,3W0,3F1,"
      "3RECV_F2,0RECV_B0,(0F3;3B1)OVERLAP_F_B,0SEND_F3,3SEND_B1,(3F2;0B0)OVERLAP_F_B,0WAIT_SEND_F0,3RECV_F3,"
      "0RECV_B1,3B2,3SEND_B2,(3F3;0B1)OVERLAP_F_B,0WAIT_SEND_F1,0RECV_B2,3B3,3SEND_B3,3REDUCE_GRAD,0RECV_B3,"
      "3WAIT_REDUCE_GRAD,3RESHARD,0I2,0WAIT_SEND_F2,0W2,0I3,0WAIT_SEND_F3,0W3,0REDUCE_GRAD,0WAIT_REDUCE_GRAD,"
      "0RESHARD,3WAIT_SEND_B0,3WAIT_SEND_B1,3WAIT_SEND_B2,3WAIT_SEND_B3\n"
      "1UNSHARD,2UNSHARD,1RECV_F0,1F0,1RECV_F1,2F0,2SEND_F0,1RECV_F2,1F1,2F1,2SEND_F1,2RECV_B0,1F2,2B0,"
      "2WAIT_SEND_F0,(2F2;1B0)OVERLAP_F_B,2SEND_F2,1SEND_B0,1RECV_F3,2RECV_B1,(1F3;2B1)OVERLAP_F_B,"
      "2WAIT_SEND_F1,(2F3;1B1)OVERLAP_F_B,2SEND_F3,1SEND_B1,2RECV_B2,2B2,2WAIT_SEND_F2,1B2,1SEND_B2,2RECV_B3,"
      "2I3,2WAIT_SEND_F3,1I3,1SEND_B3,2W3,2REDUCE_GRAD,2WAIT_REDUCE_GRAD,2RESHARD,1W3,1REDUCE_GRAD,"
      "1WAIT_REDUCE_GRAD,1RESHARD,1WAIT_SEND_B0,1WAIT_SEND_B1,1WAIT_SEND_B2,1WAIT_SEND_B3\n");
}

TEST_CASE("an input gradient and the weight gradient right behind it become one backward") {
  CHECK(rows_of(merge_backward_halves(table_of("0F0,0F1,0F2,0I0,0I1,0W0,0I2,,0W2,0W1\n"))) ==
        "0F0 0F1 0F2 0I0 0I1 0W0 0B2 0W1\n");
}

TEST_CASE("neighbours on one device exchange nothing") {
  const ActionTable table = table_of("0F0,1F0,1B0,0B0\n");
  CHECK(add_send_receive(table, {0, 0}) == table);
}

TEST_CASE("an order that deadlocks has no lowering") {
  CHECK_THROWS_AS((void)add_send_receive(table_of("0F0,0B0,0F1,0B1\n1F1,1F0,1B0,1B1\n"), {0, 1}), InputError);
  CHECK_THROWS_AS((void)dry_run_steps(table_of("0F0,0UNSHARD\n"), {0}), InputError);
}

}  // namespace
}  // namespace debubble
