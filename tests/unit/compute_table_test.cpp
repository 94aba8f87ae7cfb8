#include "schedules/exchange/compute_table.hpp"

#include <ctime>

#include "schedules/catalog.hpp"
#include "schedules/exchange/expressible.hpp"
#include "tests/support/test.hpp"
#include "tools/output/trace.hpp"

namespace debubble {
namespace {

void check_round_trip(const Schedule& schedule) {
  const Schedule again = read_compute_table(write_compute_table(schedule), "table.csv");
  CHECK(again.rows == schedule.rows);
  CHECK(again.placement == schedule.placement);
  CHECK(again.replica_of == schedule.replica_of);
  CHECK(again.devices == schedule.devices);
  CHECK(again.stages == schedule.stages);
  CHECK(again.chunks == schedule.chunks);
  CHECK(again.microbatches == schedule.microbatches);
  CHECK(again.pieces == 1);
  CHECK(again.name == "table.csv");
}

TEST_CASE("a schedule is written as PyTorch's table: one row per device, no idle cells, LF") {
  const Schedule schedule = build_schedule("1f1b", {.devices = 2, .microbatches = 3, .chunks = 0, .params = {}});
  CHECK(write_compute_table(schedule) ==
        "0F0,0F1,0B0,0F2,0B1,0B2\n"
        "1F0,1B0,1F1,1B1,1F2,1B2\n");
}

TEST_CASE("reading what was written gives the same schedule, for every schedule of the catalog, or it is not written") {
  int written = 0;
  int refused = 0;
  int impossible = 0;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    for (const int devices : {2, 4, 8}) {
      for (const int microbatches : {devices, 2 * devices, 5 * devices}) {
        CAPTURE(entry.name);
        CAPTURE(devices);
        CAPTURE(microbatches);
        Schedule schedule;
        try {
          schedule =
              build_schedule(entry.name, {.devices = devices, .microbatches = microbatches, .chunks = 0, .params = {}});
        } catch (const InputError&) {  // a size that the row does not have
          ++impossible;
          continue;
        }
        const std::string reason = not_expressible(schedule, ExchangeFormat::kPytorchTable);
        if (reason.empty()) {
          check_round_trip(schedule);
          ++written;
        } else {
          CHECK_THROWS_WITH_AS(
              refuse_what_is_not_expressible(schedule, ExchangeFormat::kPytorchTable, "pytorch-csv", "--to"),
              doctest::Contains(reason.c_str()), InputError);
          ++refused;
        }
      }
    }
  }
  CHECK(refused > 0);
  CHECK(written > refused);
  CHECK(written > 4 * impossible);
}

TEST_CASE("replicas come back with their microbatches and devices") {
  const Schedule chimera =
      build_schedule("chimera", {.devices = 8, .microbatches = 16, .chunks = 0, .params = {{"pairs", "2"}}});
  REQUIRE(chimera.placement.replicas() == 4);
  check_round_trip(chimera);
}

TEST_CASE("microbatches that use the same devices make a replica, also when they are not neighbours") {
  const Schedule schedule = read_compute_table(
      "0F0,0B0,1F1,1B1,0F2,0B2\n"
      "1F0,1B0,0F1,0B1,1F2,1B2\n",
      "t.csv");
  CHECK(schedule.replica_of == std::vector<std::int32_t>{0, 1, 0});
  CHECK(schedule.placement == Placement(2, 2, {0, 1, 1, 0}));
  CHECK(schedule.chunks == 1);
}

TEST_CASE("overlapped pairs come back as pairs") {
  const std::string text =
      "0F0,0F1,(0F2;0B0)OVERLAP_F_B,0B1,0B2\n"
      "1F0,1I0,(1F1;1W0)OVERLAP_F_B,1B1,1F2,1B2\n";
  const Schedule schedule = read_compute_table(text, "t.csv");
  CHECK(schedule.rows[0][2] == Op{OpKind::kForward, true, 0, 2});
  CHECK(schedule.rows[0][3] == Op{OpKind::kBackward, false, 0, 0});
  CHECK(schedule.rows[1][2].paired_with_next);
  CHECK(write_compute_table(schedule) == text);
}

TEST_CASE("chunks are the stages per device, rounded up") {
  CHECK(read_compute_table("0F0,2F0,2B0,0B0\n1F0,1B0\n", "t.csv").chunks == 2);
  CHECK(read_compute_table("0F0,1F0,1B0,0B0\n", "t.csv").chunks == 2);
  CHECK(read_compute_table("0F0,0B0\n1F0,1B0\n", "t.csv").chunks == 1);
}

TEST_CASE("PyTorch's own way of writing is accepted: CRLF, blanks, idle cells, no final newline") {
  const Schedule expected = read_compute_table("0F0,0B0\n1F0,1B0\n", "t.csv");
  for (const char* text : {"0F0,0B0\r\n1F0,1B0\r\n", "0F0,0B0\n1F0,1B0", "0F0,0B0\r\n1F0,1B0",
                           "0F0,,,0B0,,\n,1F0,1B0,\n", " 0F0 ,\t0B0\n1F0,  ,1B0 \r\n", "00F0,0B00\n1F000,1B0\n"}) {
    CAPTURE(text);
    CHECK(read_compute_table(text, "t.csv").rows == expected.rows);
  }
  CHECK(read_compute_table(" 0F0, ( 0F1 ; 0B0 ) OVERLAP_F_B , 0B1\n", "t.csv").rows ==
        read_compute_table("0F0,(0F1;0B0)OVERLAP_F_B,0B1\n", "t.csv").rows);
}

TEST_CASE("a table of a million cells is read within about a second") {
  const Schedule schedule = build_schedule("1f1b", {.devices = 64, .microbatches = 8192, .chunks = 0, .params = {}});
  const std::string text = write_compute_table(schedule);
  const std::clock_t begin = std::clock();
  const Schedule again = read_compute_table(text, "t.csv");
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  CHECK(again.rows == schedule.rows);
  MESSAGE("1,048,576 cells in " << seconds << " s of CPU time");
  CHECK(seconds < 20);  // sanitizers and debug builds included; the figure above is what counts
}

}  // namespace
}  // namespace debubble
