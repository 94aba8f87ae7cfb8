// The reader of compute_comms tables: what it accepts, and each thing that PyTorch's own validation lets pass.
#include "schedules/exchange/comms_table.hpp"
#include "schedules/catalog.hpp"
#include "schedules/exchange/comms_lowering.hpp"
#include "schedules/exchange/compute_table.hpp"
#include "schedules/exchange/expressible.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

const std::string kGood =
    "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
    "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n";

std::string complaint(const std::string& text) {
  return problems_of([&] { (void)read_comms_table(text, "t.csv"); });
}

std::string with(const std::string& from, const std::string& to, std::string text = kGood) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("a compute_comms table gives its compute schedule") {
  const Schedule schedule = read_comms_table(kGood, "t.csv");
  CHECK(write_compute_table(schedule) == "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  CHECK(schedule.devices == 2);
  CHECK(schedule.microbatches == 2);
}

TEST_CASE("a table whose communication is not the loader's says so") {
  const Schedule own = read_comms_table(kGood, "t.csv");
  REQUIRE(own.notes.size() == 1);
  CHECK(contains(own.notes[0], "row 2, cell 3 has 1B0 where PyTorch's loader puts 1RECV_F1"));
  const ActionTable lowered = lower_as_pytorch(own, "t.csv");
  CHECK(read_comms_table(write_action_table(lowered), "t.csv").notes.empty());
}

TEST_CASE("CRLF and blanks are accepted, as PyTorch's writer and people make them") {
  std::string crlf = with("0F0,", " 0F0\t, ");
  for (std::size_t at = 0; (at = crlf.find('\n', at)) != std::string::npos; at += 2) crlf.replace(at, 1, "\r\n");
  CHECK(write_compute_table(read_comms_table(crlf, "t.csv")) == "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
}

TEST_CASE("every lowered catalog row is read back without a note") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    for (const auto& [devices, microbatches] : {std::pair(2, 4), std::pair(4, 8)}) {
      Schedule schedule;
      try {
        schedule = build_schedule(entry.name, {devices, microbatches, 0, {}});
        (void)devices_of_stages(schedule, "");
      } catch (const InputError&) {
        continue;  // illegal here, or of several replicas
      }
      if (!not_expressible(schedule, ExchangeFormat::kPytorchTable).empty() || schedule.pieces > 1) continue;
      CAPTURE(entry.name);
      const std::string text = write_action_table(lower_as_pytorch(schedule, ""));
      const Schedule again = read_comms_table(text, "t.csv");
      CHECK(again.rows == schedule.rows);
      CHECK(again.placement == schedule.placement);
      CHECK(again.notes.empty());
    }
  }
}

TEST_CASE("either table is read for what it is") {
  CHECK(read_schedule_table(kGood, "t.csv").rows == read_schedule_table("0F0,0F1,,0B0,0B1\n1F0,1B0,1F1,1B1", "u").rows);
  CHECK(is_comms_table("0F0,0UNSHARD"));
  CHECK_FALSE(is_comms_table("0F0,(1F0;1B1)OVERLAP_F_B"));
}

TEST_CASE("cells match the grammar in full, and none is empty") {
  CHECK(complaint(with("0SEND_F1", "0SEND_F")) ==
        "error[T024]: \"0SEND_F\" names no microbatch\n"
        "  --> t.csv:1:4\n"
        "  = help: write the microbatch's number after the letter, like 3F12\n");
  CHECK(complaint(with("0SEND_F1", "0SEND_F1x")).find("error[T024]: \"0SEND_F1x\" is not an action") == 0);
  CHECK(contains(complaint(with("0SEND_F1", "0SEND_F1,0RESHARD3")), "RESHARD takes no microbatch"));
  CHECK(complaint(with("0SEND_F1", "(0SEND_F1;0B0)OVERLAP_F_B")).find("error[T024]") == 0);
  CHECK(complaint(with("0SEND_F1", "0SEND_F1,")) ==
        "error[T024]: an empty cell in a compute_comms table\n"
        "  --> t.csv:1:5\n"
        "  = help: only compute_only tables have idle cells: leave it out\n");
  CHECK(complaint(with("0B0", "0BW0")).find("error[T024]") == 0);
}

TEST_CASE("the older grammar shows by a W beside a B") {
  const std::string text = complaint("0F0,0B0,0W0\n");
  CHECK(text.find("error[T007]") == 0);
  CHECK(contains(text, "older PyTorch tables write B for I and BW for B"));
}

TEST_CASE("numbers of transfers are in range") {
  CHECK(complaint(with("0SEND_F1", "0SEND_F1,0SEND_F2")) ==
        "error[T040]: 0SEND_F2 names a microbatch that computes nothing\n"
        "  --> t.csv:1:5\n"
        "  = help: microbatches run from 0 to 1\n");
  CHECK(contains(complaint(with("0SEND_F1", "0SEND_F1,7UNSHARD")), "error[T040]: 7UNSHARD names a stage"));
}

TEST_CASE("transfers stand in the row of their stage, and lead to another device") {
  CHECK(complaint(with("0SEND_F1", "0SEND_F1,1RECV_F0")).find("error[T008]: 1RECV_F0 is in row 1") == 0);
  CHECK(complaint(with("0SEND_F1", "0SEND_F1,0SEND_B0")).find("error[T045]: 0SEND_B0 has no stage at its other") == 0);
  CHECK(complaint("0F0,0SEND_F0,1F0,1B0,0B0\n").find("error[T045]: 0SEND_F0 would go to the same device") == 0);
}

TEST_CASE("no transfer is there twice, and none is missing") {
  CHECK(complaint(with("0SEND_F1", "0SEND_F1,0SEND_F0")) ==
        "error[T003]: 0SEND_F0 is in the table twice (first in cell 2)\n"
        "  --> t.csv:1:5\n"
        "  = help: every transfer happens once\n");
  CHECK(complaint(with("0SEND_F1,", "")) ==
        "error[T045]: 0SEND_F1 is missing, and 1RECV_F1 waits for it\n"
        "  --> t.csv:1\n"
        "  = help: a hand-over between devices needs both; a table without any is a compute_only table\n");
  CHECK(complaint(with("1RECV_F1,", "")) ==
        "error[T045]: 1RECV_F1 is missing, and 0SEND_F1 is for it\n"
        "  --> t.csv:2\n"
        "  = help: a hand-over between devices needs both\n");
}

TEST_CASE("sends stand behind the producer, receives before the consumer") {
  CHECK(complaint(with("0F1,0SEND_F1", "0SEND_F1,0F1"))
            .find("error[T009]: 0SEND_F1 is before 0F1 (cell 4), which makes what it sends") == 0);
  CHECK(complaint(with("1RECV_F1,1F1", "1F1,1RECV_F1"))
            .find("error[T009]: 1RECV_F1 is after 1F1 (cell 5), which needs it") == 0);
}

TEST_CASE("two devices send and receive in the same order") {
  const std::string text =
      "0F0,0F1,0SEND_F1,0SEND_F0,0RECV_B0,0B0,0RECV_B1,0B1\n"
      "1RECV_F0,1RECV_F1,1F0,1B0,1SEND_B0,1F1,1B1,1SEND_B1\n";
  CHECK(complaint(text) ==
        "error[T045]: 1RECV_F0 gets 0SEND_F1 (row 1, cell 3), which row 1 sends before 0SEND_F0\n"
        "  --> t.csv:2:1\n"
        "  = help: what one device sends another is received in the order of sending\n");
}

TEST_CASE("a late send can stop everybody") {
  const std::string text =
      "0F0,0F1,0RECV_B0,0B0,0SEND_F0,0SEND_F1,0RECV_B1,0B1\n"
      "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n";
  CHECK(complaint(text) ==
        "error[T011]: the devices wait for each other: row 1 waits at cell 4 (0B0) for 1SEND_B0, which row 2 has "
        "after cell 2; row 2 waits at cell 2 (1F0) for 0SEND_F0, which row 1 has after cell 4\n"
        "  --> t.csv:1:4\n"
        "  = help: each device runs its row strictly in order: reorder one of these rows\n");
}

// Device 0 sends F1 before it takes B0, device 1 sends B0 before it takes F1: with compute between them, neither batch
// ever meets its counterpart, unless sends are buffered.
TEST_CASE("transfers in opposite order need buffers, which a note says") {
  const std::string text =
      "0F0,0SEND_F0,0F1,0SEND_F1,0F2,0RECV_B0,0B0,0SEND_F2,0RECV_B1,0B1,0RECV_B2,0B2\n"
      "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1,1RECV_F2,1F2,1B2,1SEND_B2\n";
  CHECK(read_comms_table(text, "t.csv").microbatches == 3);  // 1SEND_B0 and 1RECV_F1 are one batch
  const std::string apart =
      "0F0,0SEND_F0,0F1,0SEND_F1,0F2,0RECV_B0,0B0,0SEND_F2,0RECV_B1,0B1,0RECV_B2,0B2\n"
      "1RECV_F0,1F0,1I0,1SEND_B0,1W0,1RECV_F1,1F1,1B1,1SEND_B1,1RECV_F2,1F2,1B2,1SEND_B2\n";
  CHECK(read_comms_table(apart, "t.csv").notes.front() ==
        "the devices wait for each other where transfers are not buffered: row 1 waits at cell 4 (0SEND_F1) for "
        "1RECV_F1, which row 2 has after cell 4; row 2 waits at cell 4 (1SEND_B0) for 0RECV_B0, which row 1 has after "
        "cell 4");
}

// As PyTorch 2.15 has them: a send is posted, and met where its wait stands.
const std::string kWaits =
    "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0WAIT_SEND_F0,0RECV_B1,0B1,0WAIT_SEND_F1\n"
    "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1,1WAIT_SEND_B0,1WAIT_SEND_B1\n";

TEST_CASE("a table that waits for a send waits for each, behind it, once") {
  CHECK(read_comms_table(kWaits, "t.csv").rows == read_comms_table(kGood, "t.csv").rows);
  CHECK(complaint(with(",1WAIT_SEND_B1", "", kWaits)) ==
        "error[T045]: 1WAIT_SEND_B1 is missing, for 1SEND_B1\n"
        "  --> t.csv:2:8\n"
        "  = help: each send of such a table has a wait behind it\n");
  CHECK(complaint(with("0F1,0SEND_F1", "0F1,0WAIT_SEND_F1,0SEND_F1", with(",0WAIT_SEND_F1", "", kWaits)))
            .find("error[T009]: 0WAIT_SEND_F1 is before 0SEND_F1") == 0);
  CHECK(complaint(with("0WAIT_SEND_F0", "0WAIT_SEND_F0,0WAIT_SEND_F0", kWaits))
            .find("error[T003]: 0WAIT_SEND_F0 is in the table twice") == 0);
  CHECK(complaint(with("0WAIT_SEND_F0", "0WAIT_SEND_F0,0WAIT_SEND_B0", kWaits))
            .find("error[T045]: 0WAIT_SEND_B0 has no stage at its other end") == 0);
  CHECK(contains(complaint(with("0WAIT_SEND_F0", "0WAIT_SEND_F", kWaits)), "names no microbatch"));
}

TEST_CASE("where sends are waited for later, fewer orders need buffers") {
  const std::string crossing =
      "0F0,0SEND_F0,0F1,0SEND_F1,0F2,0RECV_B0,0B0,0WAIT_SEND_F0,0SEND_F2,0RECV_B1,0B1,0WAIT_SEND_F1,0RECV_B2,0B2,"
      "0WAIT_SEND_F2\n"
      "1RECV_F0,1F0,1I0,1SEND_B0,1W0,1RECV_F1,1F1,1B1,1SEND_B1,1RECV_F2,1F2,1B2,1SEND_B2,1WAIT_SEND_B0,1WAIT_SEND_B1,"
      "1WAIT_SEND_B2\n";
  for (const std::string& note : read_comms_table(crossing, "t.csv").notes) CHECK_FALSE(contains(note, "buffered"));
  const std::string early = with("1SEND_B0,", "1SEND_B0,1WAIT_SEND_B0,", with("1WAIT_SEND_B0,", "", crossing));
  for (const std::string& note : read_comms_table(early, "t.csv").notes) CHECK_FALSE(contains(note, "buffered"));
  const std::string both = with("0SEND_F1,", "0SEND_F1,0WAIT_SEND_F1,", with("0WAIT_SEND_F1,", "", early));
  CHECK(
      contains(read_comms_table(both, "t.csv").notes.front(),
               "row 1 waits at cell 5 (0WAIT_SEND_F1) for 1RECV_F1, which row 2 has after cell 5; row 2 waits at cell "
               "5 (1WAIT_SEND_B0) for 0RECV_B0"));
}

TEST_CASE("weights are gathered where they are used, and gradients reduced once, at the end") {
  CHECK(complaint("0UNSHARD,0F0,0RESHARD,0B0\n").find("error[T040]: 0B0: stage 0 is not gathered here") == 0);
  CHECK(complaint("0UNSHARD,0UNSHARD,0F0,0B0\n").find("error[T040]: 0UNSHARD: stage 0 is gathered already") == 0);
  CHECK(contains(complaint("0F0,0RESHARD,0B0\n"), "stage 0 is not gathered"));
  CHECK(complaint("0F0,0I0,0REDUCE_GRAD,0W0\n").find("error[T040]: 0W0: stage 0 was reduced before") == 0);
  CHECK(complaint("0F0,0B0,0REDUCE_GRAD,0REDUCE_GRAD\n").find("error[T040]: 0REDUCE_GRAD: stage 0 was reduced") == 0);
  CHECK(complaint("0F0,1F0,1B0,0B0,0REDUCE_GRAD\n").find("error[T040]: 1REDUCE_GRAD is missing") == 0);
  const std::string stages = "0F0,1F0,1B0,1REDUCE_GRAD";
  CHECK(complaint(stages + ",0B0,1WAIT_REDUCE_GRAD,0REDUCE_GRAD,0WAIT_REDUCE_GRAD\n").empty());
  CHECK(complaint(stages + ",0B0,0REDUCE_GRAD,0WAIT_REDUCE_GRAD\n").find("error[T040]: 0REDUCE_GRAD is out of turn") ==
        0);
  CHECK(contains(complaint(stages + ",1WAIT_REDUCE_GRAD,0B0,0REDUCE_GRAD\n"), "0WAIT_REDUCE_GRAD is missing"));
}

TEST_CASE("a stage on two devices is refused") {
  CHECK(complaint("0F0,0B0,0REDUCE_GRAD\n0F1,0B1,0REDUCE_GRAD\n").find("error[T054]: stage 0 is on devices 0 and 1") ==
        0);
}

}  // namespace
}  // namespace debubble
