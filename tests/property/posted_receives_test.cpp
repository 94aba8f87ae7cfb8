// Where receives are posted by the rule on rows, against the table with communication that is written for PyTorch,
// which is held against PyTorch's own (tests/witness/pytorch_test.py).
#include "sim/rows/posted_receives.hpp"
#include "schedules/catalog.hpp"
#include "schedules/exchange/comms_lowering.hpp"
#include "schedules/exchange/comms_table.hpp"
#include "sim/engine/program.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

std::vector<std::vector<std::int32_t>> places(const Schedule& schedule) {
  const OpIndex ops(schedule);
  const std::vector<std::int32_t> posted = posted_receives(ops);
  std::vector<std::vector<std::int32_t>> by_row(schedule.rows.size());
  for (std::int32_t id = 0; id < ops.size(); ++id) {
    const std::int32_t device = ops.device(id);
    by_row.at(static_cast<std::size_t>(device))
        .push_back(posted.at(static_cast<std::size_t>(id)) - ops.row_begin(device));
  }
  return by_row;
}

void check_schedule(const Schedule& schedule) {
  CAPTURE(schedule.name);
  CAPTURE(schedule.devices);
  CAPTURE(schedule.microbatches);
  const ActionTable table = lower_as_pytorch(schedule, "");
  REQUIRE(receives_of(table, schedule) == places(schedule));
  const Schedule read = read_comms_table(write_action_table(table), "table.csv");
  REQUIRE(read.receives == places(schedule));
  REQUIRE(places(read) == read.receives);
}

TEST_CASE("receives are posted where PyTorch's table has them") {
  for (const char* const name :
       {"gpipe", "1f1b", "breadth-first", "interleaved", "interleaved-zb", "zb-h1", "zb-v", "dualpipe-v"}) {
    for (const int devices : {2, 3, 4, 8}) {
      for (const int microbatches : {1, 2, 4, 6, 8, 12, 24}) {
        for (const int chunks : {0, 2, 3, 4, 5}) {
          try {
            check_schedule(build_schedule(name, {devices, microbatches, chunks, {}, nullptr}));
          } catch (const InputError&) {  // a size that it does not run
          }
        }
      }
    }
  }
}

}  // namespace
