// What generators of other people got wrong, each with the right behaviour: orders and requests.
#include <chrono>

#include "schedules/catalog.hpp"
#include "schedules/exchange/compute_table.hpp"
#include "sim/rows/check.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

std::string refusal(const std::string& name, int devices, int microbatches) {
  return problems_of([&] { (void)build(name, devices, microbatches); });
}

}  // namespace

TEST_CASE("peers: the last rank of 1F1B starts at microbatch 0 and ends at m-1") {
  CHECK(order_of(build("1f1b", 4, 6), 3) == "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
}

TEST_CASE("peers: 1F1B with fewer microbatches than devices runs, and says which framework would not") {
  for (int m = 1; m < 6; ++m) {
    const Schedule schedule = build("1f1b", 6, m);
    CHECK(totals_of(schedule, toy_costs(schedule, 1, 2)).makespan == units(3.0 * (m + 5)));
    REQUIRE(schedule.notes.size() == 1);
    CHECK(contains(schedule.notes[0], "PyTorch"));
  }
}

TEST_CASE("peers: no microbatches, or fewer than none, is an error and not a result") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    for (const int m : {0, -4}) CHECK(contains(refusal(entry.name, 4, m), std::to_string(m)));
  }
}

TEST_CASE("peers: an unknown schedule is told the name that was meant") {
  CHECK(contains(refusal("1f1c", 4, 8), "1f1b"));
  CHECK(contains(refusal("interleved", 4, 8), "interleaved"));
  CHECK(contains(refusal("zb-hh1", 4, 8), "zb-h1"));
  CHECK(contains(refusal("chimaera", 4, 8), "chimera"));
}

TEST_CASE("peers: the interleaved schedule on eight devices is built at once") {
  const auto start = std::chrono::steady_clock::now();
  for (int v = 2; v <= 4; ++v)
    CHECK(build("interleaved", 8, 64, v).total_ops() == std::size_t{8 * 64 * 2} * static_cast<std::size_t>(v));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("peers: a table with overlapped pairs can be read and simulated") {
  const std::string table =
      "0F0,0F1,(0F2;0B0)OVERLAP_F_B,0B1,0B2\n"
      "1F0,1B0,1F1,(1F2;1B1)OVERLAP_F_B,1B2\n";
  const Schedule schedule = read_compute_table(table, "pairs.csv");
  StageCosts costs = toy_costs(schedule, 1, 2);
  // d0: F0 0-1, F1 1-2, pair 4-7, B1 10-12, B2 12-14; d1: F0 1-2, B0 2-4, F1 4-5, pair 7-10, B2 10-12
  CHECK_EQ(mismatch(schedule, costs, {}, units(14)), "");
  costs.overlapped_pair = units(2);
  CHECK_EQ(mismatch(schedule, costs, {}, units(12)), "");
}

TEST_CASE("peers: a table in which an op is missing, twice or out of reach is refused, with its place") {
  const auto problems = [](const std::string& table) -> std::string {
    return problems_of([&] { (void)read_compute_table(table, "t.csv"); });
  };
  CHECK(problems("0F0,0B0\n1F0,1B0\n").empty());
  CHECK(contains(problems("0F0,0B0\n1F0\n"), "1"));                // backward of stage 1 missing
  CHECK(contains(problems("0F0,0F0,0B0\n1F0,1B0\n"), "t.csv:1"));  // twice
  CHECK(contains(problems("0F0,7REDUCE_GRAD,0B0\n1F0,1B0\n"), "t.csv:1"));
  CHECK(contains(problems("0B0,0F0\n1F0,1B0\n"), "t.csv:1"));              // reversed on one rank
  CHECK(contains(problems("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n"), "0B0"));  // deadlock between the ranks
}
